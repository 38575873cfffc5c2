//! The ring alone: values arrive once, in order of their tickets, and what was written before a push is seen after the pop.

use super::{super::ring::Popped, *};

/// Block 0 pushes 1 to `count`, waiting where the ring is full; block 1 pops them.
fn pass(capacity: usize, count: u32, orders: Orders) {
    let mut world = World::new(2, capacity, &[], rules(1));
    world.orders = orders;
    world.run(move |acc| {
        let ring = acc.world.ring();
        if acc.block == 0 {
            let mut next = 1;
            while next <= count {
                if ring.push(acc, 1, |_| next, |_| {}) == 1 {
                    next += 1;
                } else {
                    // A stale look, or a slot that is not free: its state changes.
                    ring.wait_free(acc, u64::from(next) - 1);
                }
            }
        } else {
            let mut expected = 1;
            while expected <= count {
                let popped = ring.pop(acc, 2, u64::MAX, |value| {
                    assert_eq!(value, expected);
                    expected += 1;
                });
                match popped {
                    Popped::Some(_) => {}
                    Popped::None(tail) => assert!(!ring.wait_for_push(acc, tail)),
                    Popped::Pending(ticket) => ring.wait_full(acc, ticket),
                }
            }
        }
    });
}

#[test]
fn loom_a_ring_of_one_slot_passes_values_in_order() {
    explore(3, || pass(1, 3, Orders::SOUND));
}

#[test]
fn loom_a_ring_of_two_slots_passes_values_in_order() {
    explore(3, || pass(2, 3, Orders::SOUND));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_ring_without_release_of_a_state() {
    let orders = Orders {
        publish: Ordering::Relaxed,
        ..Orders::SOUND
    };
    explore(3, move || pass(1, 2, orders));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_ring_without_acquire_of_a_state() {
    let orders = Orders {
        observe: Ordering::Relaxed,
        ..Orders::SOUND
    };
    explore(3, move || pass(1, 2, orders));
}

/// Two blocks push one value each while one of them also pops: `full` and `empty` are answers about a moment.
#[test]
fn loom_two_producers_do_not_share_a_slot() {
    explore(2, || {
        let world = World::new(2, 2, &[], rules(1));
        let sum = Arc::new(std::sync::atomic::AtomicU64::new(0));
        let add = sum.clone();
        let world = world.run(move |acc| {
            let ring = acc.world.ring();
            let mine = acc.block as u32 + 1;
            assert_eq!(ring.push(acc, 1, |_| mine, |_| {}), 1, "there is a slot for each");
            let _ = ring.pop(acc, 2, u64::MAX, |value| {
                add.fetch_add(u64::from(value), Ordering::Relaxed);
            });
        });
        // What neither got, because the other had not finished, is still there.
        let acc = LoomAcc {
            world: &world,
            block: 0,
        };
        let mut left = 0;
        while let Popped::Some(_) = world.ring().pop(acc, 2, u64::MAX, |value| left += u64::from(value)) {}
        assert_eq!(sum.load(Ordering::Relaxed) + left, 3);
    });
}
