//! Which kernels a compiled module holds: how the host gets from the type of a kernel to its entry.
//!
//! [`export!`](crate::export) writes both sides from one list: on the device an entry for each kernel, on the host a table of
//! type, symbol and layout. A launch asks the table of a loaded module for the type that it is about to launch:
//!
//! ```text
//! queue.launch(grid, kernel: K)
//!   -> exports.entry::<K>(form)        the symbol, and the layout that this program gives Parameters<K>
//!   -> module.global(layout_symbol)    the layout that the device was compiled with: four u64, compared once when loaded
//!   -> module.function(symbol)         called with one argument, Parameters<K> by value
//! ```
//!
//! A phased kernel has two entries, of the types that are really launched, [`PersistentForm`](crate::kernel::phased) and
//! `RelaunchForm` of it; tasks have one, of `TaskForm`. So the host looks up what it launches and knows no forms.

use core::any::TypeId;

use super::parameters::Parameters;

/// How the blocks of a launch relate: a type may be a kernel of both forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// [`Kernel`](crate::kernel::Kernel): blocks do not wait for each other.
    Plain,
    /// [`GridKernel`](crate::kernel::GridKernel): all blocks are resident.
    Cooperative,
}

/// An entry of a compiled module.
#[derive(Debug)]
pub struct Entry {
    #[cfg_attr(not(feature = "std"), allow(dead_code))] // A crate of kernels only makes the table.
    kernel: TypeId,
    form: Form,
    symbol: &'static str,
    layout_symbol: &'static str,
    layout: Layout,
}

/// How a compiler lays out the parameter of an entry, in bytes.
///
/// The device holds it as a constant, so that a program compiled from another version of the kernel's source is noticed before
/// it launches anything. Offsets of single fields are not in it: that they agree follows from `repr(C)`, which `export!` checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout {
    /// Size of the whole parameter.
    pub size: u64,
    /// Alignment of the whole parameter.
    pub align: u64,
    /// Where in it the kernel begins.
    pub kernel_offset: u64,
    /// Size of the kernel.
    pub kernel_size: u64,
}

impl Layout {
    /// Bytes of a layout in the device's memory.
    pub const BYTES: usize = size_of::<Self>();

    /// Of the entry of a kernel.
    pub const fn of<K>() -> Self {
        Self {
            size: size_of::<Parameters<K>>() as u64,
            align: align_of::<Parameters<K>>() as u64,
            kernel_offset: core::mem::offset_of!(Parameters<K>, kernel) as u64,
            kernel_size: size_of::<K>() as u64,
        }
    }
}

impl Entry {
    /// For [`export!`](crate::export).
    #[doc(hidden)]
    pub const fn new<K: 'static>(form: Form, symbol: &'static str, layout_symbol: &'static str) -> Self {
        const {
            assert!(
                size_of::<Parameters<K>>() <= super::parameters::MOST_PARAMETER_BYTES,
                "a kernel takes at most 4096 bytes, what the library adds included: put large tables in a buffer"
            )
        };
        Self {
            kernel: TypeId::of::<K>(),
            form,
            symbol,
            layout_symbol,
            layout: Layout::of::<K>(),
        }
    }

    /// How it has to be launched.
    pub const fn form(&self) -> Form {
        self.form
    }

    /// Name of the function in the module.
    pub const fn symbol(&self) -> &'static str {
        self.symbol
    }

    /// Name of the constant in the module that holds the [`Layout`] it was compiled with.
    pub const fn layout_symbol(&self) -> &'static str {
        self.layout_symbol
    }

    /// The layout that this program gives the parameter.
    pub const fn layout(&self) -> Layout {
        self.layout
    }
}

/// The entries of a compiled module, written by [`export!`](crate::export).
#[derive(Debug)]
pub struct Exports {
    /// One group for each line of the list.
    groups: &'static [&'static [Entry]],
}

impl Exports {
    /// For [`export!`](crate::export).
    #[doc(hidden)]
    pub const fn new(groups: &'static [&'static [Entry]]) -> Self {
        Self { groups }
    }

    /// The entry of a kernel, whatever its lifetimes.
    #[cfg(feature = "std")]
    pub fn entry<K>(&self, form: Form) -> Option<&'static Entry> {
        let kernel = typeid::of::<K>();
        self.entries()
            .find(|entry| entry.kernel == kernel && entry.form == form)
    }

    /// All entries.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.groups.iter().copied().flatten()
    }
}

/// A compiled module: the text, and what is in it.
///
/// ```no_run
/// # use gridwise::{Exports, Module};
/// # static KERNELS: Exports = Exports::new(&[]);
/// // SAFETY: `gridwise_ptx::build` has compiled the crate that `KERNELS` is of.
/// static MODULE: Module = unsafe { Module::new("…", &KERNELS) }; // include_str!(env!("KERNELS_PTX"))
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Module {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))] // Nothing is loaded then.
    pub(crate) ptx: &'static str,
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))] // As above.
    pub(crate) exports: &'static Exports,
}

impl Module {
    /// `ptx` is the text, from `include_str!`; `exports` its entries, the table that [`export!`](crate::export) wrote.
    ///
    /// # Safety
    /// `ptx` is what the crate of kernels with that table compiles to: a GPU runs whatever it says. That the crate has changed
    /// since is noticed only where the layout of a kernel has.
    pub const unsafe fn new(ptx: &'static str, exports: &'static Exports) -> Self {
        Self { ptx, exports }
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod test;
