//! What the simulated device itself does.

use crate::{
    check::{Builder, Model},
    prelude::*,
};

/// The first lane of each warp looks at a word several times, or briefly waits for it, and goes on; the others have nothing to do.
#[repr(C)]
struct Looks<'a> {
    word: SpanMut<'a, u32>,
    briefly: bool,
}

// SAFETY: the word is atomic.
unsafe impl Kernel for Looks<'_> {
    const NAME: &'static str = "looks";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let word = self.word.atomic(0);
        if acc.lane() == 0 {
            if self.briefly {
                word.wait_briefly(acc, Ordering::Relaxed, |now| now == 1);
            } else {
                for _ in 0..3 {
                    word.load(acc, Ordering::Relaxed);
                }
            }
        } else {
            word.load(acc, Ordering::Relaxed);
        }
        acc.sync_block();
    }
}

#[test]
fn a_lane_that_gives_up_looking_does_not_hold_up_its_warp_for_ever() {
    let mut model = Model::small();
    (model.warp_size, model.lock_step) = (2, true);
    for briefly in [false, true] {
        Builder::new().model(model).check(|device| {
            let mut word = device.zeroed(1).unwrap();
            let word = word.span_mut();
            device
                .queue()
                .launch(Blocks::Resident, Looks { word, briefly })
                .unwrap();
        });
    }
}
