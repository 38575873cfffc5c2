//! Look-back reads the flag atomically and the aggregate beside it plainly, with no fence on either side

use super::exhibit::*;

exhibit! {
    "aggregate_beside_flag", "A4.5", "Look-back reads the flag atomically and the aggregate beside it plainly, with no fence on either side",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let me = acc.block_index();
    let (publish, observe) = if fixed {
        (Ordering::Release, Ordering::Acquire)
    } else {
        (Ordering::Relaxed, Ordering::Relaxed)
    };
    let mut before = 0;
    if me > 0 {
        words.atomic(me - 1).wait_until(acc, observe, |now| now == 1);
        before = data.get(acc, me - 1);
    }
    data.set(acc, me, before + 1);
    words.atomic(me).store(acc, 1, publish);
}
