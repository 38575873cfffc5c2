//! The table finds the entry of whatever is launched.

use super::Form;
use crate::{
    kernel::{Acc, GridAcc, GridKernel, Kernel, Phase, Phased, SpanMut, phased::PersistentForm, phased::RelaunchForm},
    prelude::{Span, Spawner, Tasks},
};

#[repr(C)]
struct Plain<'a> {
    data: SpanMut<'a, f32>,
    by: f32,
}

// SAFETY: it does nothing.
unsafe impl Kernel for Plain<'_> {
    const NAME: &'static str = "plain";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {}
}

#[repr(C)]
struct Generic<'a, T> {
    _data: Span<'a, T>,
}

// SAFETY: it does nothing.
unsafe impl<T> GridKernel for Generic<'_, T> {
    const NAME: &'static str = "generic";
    type Shared = ();

    fn run<A: GridAcc>(self, _: A, _: ()) {}
}

// SAFETY: it does nothing.
unsafe impl GridKernel for Plain<'_> {
    const NAME: &'static str = "plain_in_grid";
    type Shared = ();

    fn run<A: GridAcc>(self, _: A, _: ()) {}
}

// SAFETY: it does nothing.
unsafe impl Phased for Plain<'_> {
    const NAME: &'static str = "plain_phases";
    type Shared = ();
    const PHASES: usize = 1;

    fn phase<A: Acc>(self, _: A, _: (), _: Phase) {}
    fn proceed<A: Acc>(self, _: A, _: usize) -> bool {
        false
    }
}

// SAFETY: it does nothing.
unsafe impl Tasks for Plain<'_> {
    const NAME: &'static str = "plain_tasks";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 0;

    fn run<A: Acc>(self, _: A, _: (), _: u32, _: Spawner<'_, '_, u32>) {}
}

#[repr(C)]
struct Nothing;

// SAFETY: it does nothing.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "nothing";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {}
}

crate::export! {
    KERNELS:
    "plain" = kernel Plain<'static>;
    "plain_in_grid" = grid_kernel Plain<'static>;
    "nothing" = kernel Nothing, empty;
    "floats" = grid_kernel Generic<'static, f32>;
    "words" = grid_kernel Generic<'static, u64>;
    "phases" = phased Plain<'static>;
    "work" = tasks Plain<'static>;
}

/// The symbol of a kernel, from a value that borrows something that does not live for ever.
fn symbol_of<K>(_: &K) -> Option<&'static str> {
    KERNELS.entry::<K>(Form::Plain).map(super::Entry::symbol)
}

#[test]
fn a_kernel_is_found_whatever_its_lifetime() {
    let mut data = [1.0];
    let kernel = Plain {
        data: SpanMut::new(&mut data),
        by: 2.0,
    };
    assert_eq!(symbol_of(&kernel), Some("plain"));
    assert_eq!((kernel.by, kernel.data.len()), (2.0, 1));
}

#[test]
fn type_parameters_tell_kernels_apart() {
    let symbol = |entry: Option<&super::Entry>| entry.map(super::Entry::symbol);
    assert_eq!(
        symbol(KERNELS.entry::<Generic<'_, f32>>(Form::Cooperative)),
        Some("floats")
    );
    assert_eq!(
        symbol(KERNELS.entry::<Generic<'_, u64>>(Form::Cooperative)),
        Some("words")
    );
    assert_eq!(symbol(KERNELS.entry::<Generic<'_, u32>>(Form::Cooperative)), None);
}

#[test]
fn phased_kernels_have_an_entry_for_each_structure() {
    let symbols: Vec<_> = KERNELS.entries().map(super::Entry::symbol).collect();
    let expected = [
        "plain",
        "plain_in_grid",
        "nothing",
        "floats",
        "words",
        "phases__persistent",
        "phases__relaunch",
        "work__tasks",
    ];
    assert_eq!(symbols, expected);
    let persistent = KERNELS
        .entry::<PersistentForm<'_, Plain<'_>>>(Form::Cooperative)
        .unwrap();
    assert_eq!(persistent.symbol(), "phases__persistent");
    assert_eq!(persistent.layout_symbol(), "phases__persistent__layout");
    let relaunch = KERNELS.entry::<RelaunchForm<'_, Plain<'_>>>(Form::Plain).unwrap();
    assert_eq!(relaunch.symbol(), "phases__relaunch");
}

#[test]
fn the_layout_is_that_of_the_parameter() {
    let layout = KERNELS.entry::<Plain<'_>>(Form::Plain).unwrap().layout();
    assert_eq!(layout.kernel_size, size_of::<Plain<'_>>() as u64);
    assert_eq!(layout.size, layout.kernel_offset + layout.kernel_size);
    assert_eq!(layout.align, align_of::<Plain<'_>>() as u64);
}

#[test]
fn a_type_of_both_forms_has_an_entry_for_each() {
    let symbol = |form| KERNELS.entry::<Plain<'_>>(form).map(super::Entry::symbol);
    assert_eq!(symbol(Form::Plain), Some("plain"));
    assert_eq!(symbol(Form::Cooperative), Some("plain_in_grid"));
}

#[test]
fn a_kernel_without_fields_has_a_parameter_all_the_same() {
    let layout = KERNELS.entry::<Nothing>(Form::Plain).unwrap().layout();
    assert_eq!(layout.kernel_size, 0);
    assert!(layout.size > 0);
}
