//! One word takes the residual of every step, and is cleared while others may still look at it

use super::exhibit::*;

exhibit! {
    "residual_cleared_too_early", "A3.4", "One word takes the residual of every step, and is cleared while others may still look at it",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    for step in 0..3 {
        // Three words take turns: one is added to, one is read, and one is cleared, with a barrier between each.
        let (now, next) = if fixed { (step % 3, (step + 1) % 3) } else { (0, 0) };
        words.atomic(now).fetch_max(acc, 1, Ordering::Relaxed);
        if fixed && acc.block_index() == 0 {
            words.set(acc, next, 0);
        }
        acc.sync_grid();
        if words.get(acc, now) == 0 {
            break;
        }
        if !fixed && acc.block_index() == 0 {
            words.set(acc, next, 0);
        }
    }
}
