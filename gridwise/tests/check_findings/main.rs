//! What findings say: which element is out of bounds, which order is missing where, which sizes are mixed, who waits for what.

use gridwise::{
    check::{Builder, Explore, Finding, Kind, Model},
    prelude::*,
};

mod hangs;
mod orders;
mod outside;
mod sizes;

/// What two blocks of one thread each do to a buffer of four words.
trait Deed: Copy {
    fn act<A: GridAcc>(self, acc: A, words: &SpanMut<'_, u64>, shared: SharedArray<u32, 4>);
}

#[repr(C)]
struct Two<'a, D> {
    words: SpanMut<'a, u64>,
    deed: D,
}

// SAFETY: each test says what is wrong; the checking device runs it alone.
unsafe impl<D: Deed> GridKernel for Two<'_, D> {
    const NAME: &'static str = "two";
    type Shared = SharedArray<u32, 4>;

    fn run<A: GridAcc>(self, acc: A, shared: Self::Shared) {
        self.deed.act(acc, &self.words, shared);
    }
}

fn findings(deed: impl Deed) -> Vec<Finding> {
    findings_on(2, 1, deed)
}

fn findings_on(blocks: usize, threads: usize, deed: impl Deed) -> Vec<Finding> {
    let mut model = Model::small();
    model.multiprocessors = blocks;
    let builder = Builder::new().model(model);
    let report = builder.explore(Explore::Random).schedules(30).run(|device| {
        let mut words = device.zeroed(4).unwrap();
        let kernel = Two {
            words: words.span_mut(),
            deed,
        };
        let _ = device
            .queue()
            .launch_cooperative(Blocks::Exactly(blocks).threads(threads), kernel);
    });
    report.findings
}

fn assert_text(finding: &Finding, kind: Kind, parts: &[&str]) {
    let text = finding.to_string();
    assert_eq!(finding.kind, kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

/// A deed from a function.
macro_rules! deed {
    ($name:ident, |$acc:ident, $words:ident, $shared:ident| $body:block) => {
        #[derive(Clone, Copy)]
        struct $name;
        impl Deed for $name {
            #[allow(unused_variables)]
            fn act<A: GridAcc>(self, $acc: A, $words: &SpanMut<'_, u64>, $shared: SharedArray<u32, 4>) $body
        }
    };
}
use deed;
