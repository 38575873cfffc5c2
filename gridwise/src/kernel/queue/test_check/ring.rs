//! The ring alone: values arrive once, in order of their tickets, and what was written before a push is seen after the pop.

use super::*;
use crate::kernel::queue::ring::{CLOSED, Popped, RING_WORDS, Ring, TAIL};

/// Block 0 pushes 1 to `count`, waiting where the ring is full; block 1 pops them.
#[repr(C)]
struct Pass<'a> {
    ring: Ring<'a, u32>,
    written: SpanMut<'a, u32>,
    count: u32,
}

// SAFETY: what the producer writes before a push is read after the pop, which is what the tests are about.
unsafe impl GridKernel for Pass<'_> {
    const NAME: &'static str = "pass";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let (ring, written) = (&self.ring, &self.written);
        if acc.block_index() == 0 {
            let mut next = 1;
            while next <= self.count {
                written.set(acc, next as usize - 1, next);
                while ring.push(acc, 1, |_| next, |_| {}) == 0 {
                    // A stale look, or a slot that is not free: its state changes.
                    ring.wait_free(acc, u64::from(next) - 1);
                }
                next += 1;
            }
        } else {
            let mut expected = 1;
            while expected <= self.count {
                let popped = ring.pop(acc, 2, u64::MAX, |value| {
                    if value != expected || written.get(acc, value as usize - 1) != value {
                        wrong("values");
                    }
                    expected += 1;
                });
                match popped {
                    Popped::Some(_) => {}
                    Popped::None(tail) => {
                        ring.wait_for_push(acc, tail);
                    }
                    Popped::Pending(ticket) => ring.wait_full(acc, ticket),
                }
            }
        }
    }
}

/// The memory of a ring.
struct Memory {
    words: Buffer<u64>,
    states: Buffer<u32>,
    values: Buffer<u32>,
}

impl Memory {
    fn new(device: &Device, capacity: usize) -> Self {
        Self {
            words: device.zeroed(RING_WORDS).unwrap(),
            states: device.zeroed(capacity).unwrap(),
            values: device.zeroed(capacity).unwrap(),
        }
    }

    fn ring(&mut self) -> Ring<'_, u32> {
        Ring::new(self.words.span_mut(), self.states.span_mut(), self.values.span_mut())
    }
}

pub(super) fn pass(how: How, capacity: usize, count: u32) -> Report {
    explore(how, 2, |device| {
        let queue = device.queue();
        let mut memory = Memory::new(device, capacity);
        let mut written = device.zeroed(count as usize).unwrap();
        let kernel = Pass {
            ring: memory.ring(),
            written: written.span_mut(),
            count,
        };
        // Its findings are in the report.
        let _ = queue.launch_cooperative(Blocks::Exactly(2).threads(1), kernel);
    })
}

/// Each block pushes its value, if there is a slot, or asks for room; then it pops one, if there is any.
#[repr(C)]
struct Both<'a> {
    ring: Ring<'a, u32>,
    pushed: SpanMut<'a, u32>,
    popped: SpanMut<'a, u32>,
}

// SAFETY: each block writes its own element.
unsafe impl GridKernel for Both<'_> {
    const NAME: &'static str = "both";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let block = acc.block_index();
        let value = block as u32 + 1;
        let pushed = self.ring.push(acc, 1, |_| value, |_| {});
        self.pushed.set(acc, block, pushed as u32 * value);
        if pushed == 0 {
            let _ = self.ring.room(acc);
        }
        let _ = self
            .ring
            .pop(acc, 1, u64::MAX, |value| self.popped.set(acc, block, value));
    }
}

pub(super) fn both(how: How, capacity: usize) -> Report {
    explore(how, 2, |device| {
        let queue = device.queue();
        let mut memory = Memory::new(device, capacity);
        let (mut pushed, mut popped) = (device.zeroed(2).unwrap(), device.zeroed(2).unwrap());
        let kernel = Both {
            ring: memory.ring(),
            pushed: pushed.span_mut(),
            popped: popped.span_mut(),
        };
        if queue.launch_cooperative(Blocks::Exactly(2).threads(1), kernel).is_err() {
            return;
        }
        // What neither got, because the other had not finished, is still there, full.
        let states = queue.download(&memory.states).unwrap();
        let values = queue.download(&memory.values).unwrap();
        let left = states.iter().zip(&values).filter(|(state, _)| **state % 2 == 1);
        let mut got: Vec<u32> = left.map(|(_, value)| *value).collect();
        got.extend(queue.download(&popped).unwrap());
        let mut given = queue.download(&pushed).unwrap();
        for values in [&mut got, &mut given] {
            values.retain(|value| *value != 0);
            values.sort_unstable();
        }
        if got != given || (capacity == 2 && given != [1, 2]) {
            wrong("the values");
        }
    })
}

/// One block pushes while the other closes the ring.
#[repr(C)]
struct Close<'a> {
    ring: Ring<'a, u32>,
    pushed: SpanMut<'a, u64>,
}

// SAFETY: one block writes the element.
unsafe impl GridKernel for Close<'_> {
    const NAME: &'static str = "close";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.block_index() == 0 {
            self.ring.close(acc);
        } else {
            self.pushed.set(acc, 0, self.ring.push(acc, 1, |_| 1, |_| {}));
        }
    }
}

pub(super) fn close(how: How) -> Report {
    explore(how, 2, |device| {
        let queue = device.queue();
        let mut memory = Memory::new(device, 2);
        let mut pushed = device.zeroed(1).unwrap();
        let kernel = Close {
            ring: memory.ring(),
            pushed: pushed.span_mut(),
        };
        let launched = queue.launch_cooperative(Blocks::Exactly(2).threads(1), kernel);
        let tail = queue.download(&memory.words).unwrap()[TAIL];
        if launched.is_ok() && tail != CLOSED | queue.download(&pushed).unwrap()[0] {
            wrong("the tickets");
        }
    })
}

#[test]
fn rings_are_silent_under_every_schedule() {
    is_silent("1 slot, 2 values", &pass(How::All, 1, 2));
    is_silent("2 slots, 2 values", &pass(How::All, 2, 2));
    is_silent("2 producers, 1 slot", &both(How::All, 1));
    is_silent("2 producers, 2 slots", &both(How::All, 2));
    is_silent("closed meanwhile", &close(How::All));
}
