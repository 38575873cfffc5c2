//! The missing barrier of a reduction is put inside the branch: another bug

use super::exhibit::*;

exhibit! {
    "repair_in_a_branch", "A8.4", "The missing barrier of a reduction is put inside the branch: another bug",
    finds [LeftBeforeBarrier, BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    let mut half = 2;
    acc.sync_block();
    while half > 0 {
        if me < half {
            shared.set(acc, me, shared.get(acc, me) + shared.get(acc, me + half));
            if !fixed {
                acc.sync_block();
            }
        }
        if fixed {
            acc.sync_block();
        }
        half /= 2;
    }
}
