use gridwise::prelude::*;

fn main() {
    let device = Device::open("cpu").unwrap();
    let span = {
        let buffer = device.zeroed::<u32>(4).unwrap();
        buffer.span()
    };
    assert_eq!(span[0], 0);
}
