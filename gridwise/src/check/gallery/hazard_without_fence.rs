//! A reader says which node it uses and looks whether that is still the current one; without a fence between, whoever takes the node away may see no sign of it

use super::exhibit::*;

exhibit! {
    "hazard_without_fence", "A9.14", "A reader says which node it uses and looks whether that is still the current one; without a fence between, whoever takes the node away may see no sign of it",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 50,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (current, used) = (words.atomic(0), words.atomic(1));
    let fence = || {
        if fixed {
            acc.fence(Ordering::SeqCst, Scope::Device);
        }
    };
    if acc.block_index() == 0 {
        let node = current.load(acc, Ordering::Acquire);
        used.store(acc, node + 1, Ordering::Relaxed);
        fence();
        if current.load(acc, Ordering::Acquire) == node {
            data.get(acc, node as usize);
        }
        used.store(acc, 0, Ordering::Release);
        return;
    }
    let old = current.swap(acc, 1, Ordering::AcqRel);
    fence();
    used.wait_until(acc, Ordering::Acquire, |node| node != old + 1);
    data.set(acc, old as usize, 1);
}
