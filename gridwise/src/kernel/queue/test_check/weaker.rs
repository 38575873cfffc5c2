//! The task queue and its ring: every weaker one is found.

use super::{
    ring::{both, close, pass},
    tasks::{Kind, ONE, TREE, TWO, cancelled, no_room, small, tree, wide},
    *,
};

/// Why the tail needs no order.
const HINT: &str = "The tail tells where to look, and no more: whether a slot may be used is read from its state, and the swap \
                    decides who uses it. An old tail, or an old state behind a new one, makes a block look again. (On the CPU a \
                    release also wakes sleepers at once.)";

#[test]
fn every_weaker_task_queue_is_found() {
    let subject = Subject {
        name: "task queue",
        sources: &[
            "kernel/queue/ring.rs",
            "kernel/queue/spawner.rs",
            "kernel/queue/task_queue.rs",
            "kernel/queue/tasks.rs",
            "kernel/queue/test_check/tasks.rs",
        ],
        scenarios: &[
            ("1 slot, 2 values", || pass(How::First, 1, 2)),
            ("2 producers, 1 slot", || both(How::First, 1)),
            ("2 producers, 2 slots", || both(How::First, 2)),
            ("closed meanwhile", || close(How::First)),
            ("1 seed", || tree::<2>(How::First, (2, 1), ONE, small(), Kind::Usual)),
            ("2 seeds", || tree::<2>(How::First, (2, 1), TWO, small(), Kind::Usual)),
            ("no room", || no_room(How::Some(200))),
            ("cancelled", || cancelled(How::Some(100))),
            ("6 from 1", || wide(How::FewEvents(300))),
            ("3 blocks", || {
                tree::<2>(How::Some(50), (3, 1), TREE, small().capacity(8), Kind::Usual)
            }),
            ("2 threads", || {
                tree::<2>(How::Some(50), (2, 2), TREE, small(), Kind::Usual)
            }),
            ("by generations", || {
                tree::<2>(
                    How::Some(50),
                    (2, 1),
                    TREE,
                    small().strategy(Strategy::Relaunch),
                    Kind::Usual,
                )
            }),
        ],
        // The first belong to models of another kind; waits and spawns are known by their callers' lines.
        elsewhere: &[
            "publish: Ordering::Release",
            "observe: Ordering::Acquire",
            ".wait_until(acc,",
            "word.fetch_add(acc, 1, Ordering::Relaxed)",
            // Before the panic of a task that makes too many.
            "word.fetch_sub(acc, 1, Ordering::Relaxed)",
            // The host's word.
            "cancelled.load(Ordering::Relaxed)",
        ],
        unused: &["self.outstanding().fetch_add(acc, by, Ordering::Relaxed);"],
        equivalent: &[
            Equivalent {
                line: ".compare_exchange(acc, tail, tail + free, Ordering::Release, Ordering::Relaxed)",
                changes: &["Relaxed"],
                because: HINT,
            },
            Equivalent {
                line: "let tail = self.tail().load(acc, Ordering::Acquire);",
                changes: &["Relaxed"],
                because: HINT,
            },
            Equivalent {
                line: "self.tail().fetch_or(acc, CLOSED, Ordering::Release);",
                changes: &["Relaxed"],
                because: HINT,
            },
            Equivalent {
                line: "self.ring.wait_free(acc, ticket)",
                changes: &["Removed"],
                because: "A wait between two looks, for somebody who waits for nobody: without it the block looks again at once.",
            },
        ],
    };
    subject.score();
}
