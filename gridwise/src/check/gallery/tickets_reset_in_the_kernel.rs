//! The ticket counter is reset by block 0 inside the kernel: tickets come twice

use super::exhibit::*;

exhibit! {
    "tickets_reset_in_the_kernel", "A9.1", "The ticket counter is reset by block 0 inside the kernel: tickets come twice",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
    schedules 60,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let tickets = words.atomic(0);
    if !fixed && acc.block_index() == 0 {
        tickets.store(acc, 0, Ordering::Relaxed);
    }
    loop {
        let ticket = tickets.fetch_add(acc, 1, Ordering::Relaxed) as usize;
        if ticket >= 4 {
            break;
        }
        data.set(acc, ticket, 1);
    }
}
