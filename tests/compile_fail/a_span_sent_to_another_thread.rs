use gridwise::prelude::*;

fn main() {
    let device = Device::open("cpu").unwrap();
    let buffer = device.zeroed::<u32>(4).unwrap();
    let span = buffer.span();
    std::thread::scope(|scope| {
        scope.spawn(move || assert_eq!(span[0], 0));
    });
}
