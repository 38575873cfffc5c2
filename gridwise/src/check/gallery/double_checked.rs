//! Whoever comes first makes the table; the others see that it is made, but do not acquire it

use super::exhibit::*;

exhibit! {
    "double_checked", "A8.6", "Whoever comes first makes the table; the others see that it is made, but do not acquire it",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let state = words.atomic(0);
    let observe = if fixed { Ordering::Acquire } else { Ordering::Relaxed };
    match state.compare_exchange(acc, 0, 1, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            data.set(acc, 0, 42);
            state.store(acc, 2, Ordering::Release);
        }
        Err(_) => {
            state.wait_until(acc, observe, |state| state == 2);
        }
    }
    data.get(acc, 0);
}
