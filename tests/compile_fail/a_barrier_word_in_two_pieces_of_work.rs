//! An atomic can be copied, but two launches that could run at the same time cannot get one.

use gridwise::prelude::*;

struct Meet<'a> {
    arrived: Atomic<'a, u32>,
}

// SAFETY: atomic accesses alone.
unsafe impl Kernel for Meet<'_> {
    const NAME: &'static str = "meet";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.arrived.fetch_add(acc, 1, Ordering::Relaxed);
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    let (first, second) = (device.queue(), device.queue());
    let mut words = device.zeroed::<u32>(1).unwrap();
    let words = words.span_mut();
    let arrived = words.atomic(0);
    first
        .scope(|scope| {
            scope.enqueue(move |queue| Ok(queue.launch(Blocks::Exactly(1), Meet { arrived })?));
            Ok(second.launch(Blocks::Exactly(1), Meet { arrived })?)
        })
        .unwrap();
}
