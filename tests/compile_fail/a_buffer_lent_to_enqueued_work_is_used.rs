use gridwise::prelude::*;

fn main() {
    let device = Device::open("cpu").unwrap();
    let queue = device.queue();
    let mut buffer = device.zeroed::<u32>(4).unwrap();
    queue
        .scope(|scope| {
            let _ticket = scope.enqueue(|queue| Ok(queue.fill(buffer.span_mut(), 1)));
            assert_eq!(buffer.span()[0], 0);
        })
        .unwrap();
}
