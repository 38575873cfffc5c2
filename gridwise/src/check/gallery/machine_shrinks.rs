//! A grid size that was asked for once, and a device that has lost multiprocessors at the second launch

use super::exhibit::*;

exhibit! {
    "machine_shrinks", "A1.15", "A grid size that was asked for once, and a device that has lost multiprocessors at the second launch",
    finds [NeverStarted],
    Kernel on |fixed| if fixed { Blocks::Resident.threads(1) } else { Blocks::Exactly(4).threads(1) },
    shared (),
    launches 2,
    between |device| {
        let smaller = crate::check::reshape(device, Model::small());
        assert!(smaller.is_ok_and(|is_check| is_check), "two multiprocessors are a device");
    },
}

fn kernel<A: Acc>(acc: A, _fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    sound_barrier(acc, words, 0, acc.block_count() as u32);
}
