//! The conditions of waits on the checking device: threads that store ask them, too, so they may only look.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::mpsc,
    thread,
    time::Duration,
};

use gridwise::{check, prelude::*};

/// A test that hangs fails.
fn bounded(test: impl FnOnce() + Send + 'static) {
    let (done, end) = mpsc::channel();
    thread::spawn(move || done.send(catch_unwind(AssertUnwindSafe(test))));
    match end.recv_timeout(Duration::from_secs(60)) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => panic!("still running after a minute"),
    }
}

/// What a condition does besides looking at its value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Nothing,
    Loads,
    Stores,
    StoresPlainly,
    Adds,
    Exchanges,
    Waits,
    MeetsTheBlock,
    MeetsTheWarp,
}

/// The threads of block 0 wait for what block 1 stores, after it has stored much else.
#[repr(C)]
struct Asked<'a> {
    word: SpanMut<'a, u32>,
    others: SpanMut<'a, u32>,
    does: Does,
}

// SAFETY: the condition is what is judged; without it, all accesses are atomic.
unsafe impl Kernel for Asked<'_> {
    const NAME: &'static str = "asked";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (word, other) = (self.word.atomic(0), self.others.atomic(acc.thread_index()));
        if acc.block_index() == 1 {
            for _ in 0..3 {
                word.fetch_add(acc, 1, Ordering::Release);
            }
            return;
        }
        word.wait_until(acc, Ordering::Acquire, |value| {
            match self.does {
                Does::Nothing => {}
                Does::Loads => drop(other.load(acc, Ordering::Relaxed)),
                Does::Stores => other.store(acc, 1, Ordering::Relaxed),
                // Into the very word: whoever waits for it would be asked, this condition among them.
                Does::StoresPlainly => self.word.set(acc, 0, value),
                Does::Adds => drop(word.fetch_add(acc, 1, Ordering::Relaxed)),
                Does::Exchanges => {
                    let _ = word.compare_exchange(acc, value, value + 1, Ordering::Relaxed, Ordering::Relaxed);
                }
                Does::Waits => drop(other.wait_until(acc, Ordering::Relaxed, |_| true)),
                Does::MeetsTheBlock => acc.sync_block(),
                Does::MeetsTheWarp => drop(acc.warp_any(true)),
            }
            value >= 6
        });
    }
}

fn launch(does: Does, seed: u32) -> Result<(), LaunchError> {
    let device = Device::open(&format!("check:mps=2,blocks=1,threads=2,seed={seed}")).unwrap();
    let queue = device.queue();
    let mut word = queue.upload(&[3]).unwrap();
    let mut others = device.zeroed(2).unwrap();
    let kernel = Asked {
        word: word.span_mut(),
        others: others.span_mut(),
        does,
    };
    // So that the threads that store have all the work, and ask those that wait.
    queue.launch(Blocks::Exactly(2), kernel)
}

#[test]
fn a_condition_that_looks_is_let_go() {
    bounded(|| {
        for seed in 0..20 {
            for does in [Does::Nothing, Does::Loads] {
                launch(does, seed).unwrap();
            }
        }
    });
}

#[test]
fn a_condition_that_does_more_than_look_ends_the_launch() {
    bounded(|| {
        for (does, what) in [
            (Does::Stores, "stores"),
            (Does::StoresPlainly, "stores"),
            (Does::Adds, "stores"),
            (Does::Exchanges, "stores"),
            (Does::Waits, "waits itself"),
            (Does::MeetsTheBlock, "meets a barrier"),
            (Does::MeetsTheWarp, "meets its warp"),
        ] {
            for seed in 0..20 {
                let expected = format!("the condition of a wait {what}");
                match launch(does, seed) {
                    Err(LaunchError::Panicked { block: 0, message, .. }) => {
                        assert!(message.starts_with(&expected), "{message}");
                    }
                    other => panic!("{does:?}: {other:?}"),
                }
            }
        }
    });
}

/// Block 0 waits with a condition that looks at memory of another device.
#[repr(C)]
struct Foreign<'a> {
    word: SpanMut<'a, u32>,
    foreign: SpanMut<'a, u32>,
}

// SAFETY: the word is atomic, and the other is only read.
unsafe impl Kernel for Foreign<'_> {
    const NAME: &'static str = "foreign";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let word = self.word.atomic(0);
        if acc.block_index() == 1 {
            word.store(acc, 1, Ordering::Release);
        } else {
            word.wait_until(acc, Ordering::Acquire, |value| {
                // What it is asked first, it answers by itself.
                value == 1 && self.foreign.get(acc, 0) == 0
            });
        }
    }
}

#[test]
fn a_condition_that_looks_at_foreign_memory_is_found() {
    bounded(|| {
        let (device, other) = (Device::open("check").unwrap(), Device::open("cpu:blocks=1").unwrap());
        let (mut word, mut foreign) = (device.zeroed(1).unwrap(), other.zeroed(1).unwrap());
        let kernel = Foreign {
            word: word.span_mut(),
            foreign: foreign.span_mut(),
        };
        match device.queue().launch(Blocks::Exactly(2).threads(1), kernel) {
            Err(LaunchError::Faults { findings, .. }) => {
                assert_eq!(findings.0[0].kind, check::Kind::OutOfBounds);
                assert_eq!(findings.0[0].first.block, 0);
            }
            other => panic!("{other:?}"),
        }
    });
}

/// Asks for the findings of its own device.
#[repr(C)]
struct Curious<'a> {
    device: &'a Device,
}

// SAFETY: it touches no memory.
unsafe impl Kernel for Curious<'_> {
    const NAME: &'static str = "curious";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        check::findings(self.device);
    }
}

#[test]
fn findings_asked_for_inside_a_kernel_end_the_launch() {
    bounded(|| {
        let device = Device::open("check").unwrap();
        match device.queue().launch(Blocks::Exactly(1), Curious { device: &device }) {
            Err(LaunchError::Panicked { message, .. }) => {
                assert!(message.contains("from inside a kernel"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    });
}
