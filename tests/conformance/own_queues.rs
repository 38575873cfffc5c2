//! Task queues in kernels of one's own: they are part of the kernel, and what they leave is in their memory.

use conformance_kernels::own_queues::CountAll;
use gridwise::{host::tasks::TaskMemory, prelude::*};

use crate::support::{queue, survives_failures};

fn memory(queue: &Queue) -> TaskMemory<u32> {
    queue
        .task_memory(2, TaskOptions::default().keep(4).capacity(64))
        .unwrap()
}

// fault A9.1: the state of a queue is one launch's, and made anew for the next.
pub(crate) fn a_kernel_may_run_tasks_and_then_go_on(device: &Device) {
    let queue = queue(device);
    let mut memory = memory(&queue);
    for nodes in [0, 1, 2, 3, 50, 100, 7] {
        let seeds: &[u32] = if nodes == 0 { &[] } else { &[0] };
        let mut visits = device.zeroed(nodes).unwrap();
        let mut counts = device.zeroed(device.most_resident_blocks()).unwrap();
        let kernel = CountAll {
            queue: memory.fresh(&queue, seeds).unwrap(),
            panics: u32::MAX,
            visits: visits.span_mut(),
            counts: counts.span_mut(),
        };
        queue.launch_cooperative(Blocks::Resident, kernel).unwrap();
        assert_eq!(queue.download(&visits).unwrap(), vec![1; nodes]);
        assert_eq!(queue.download(&counts).unwrap(), vec![nodes as u32; counts.len()]);
        assert_eq!(memory.unfinished(&queue).unwrap(), []);
    }
}

pub(crate) fn what_a_kernel_has_left_comes_back(device: &Device) {
    if !survives_failures(device) {
        return;
    }
    let queue = queue(device);
    let mut memory = memory(&queue);
    let mut visits = device.zeroed(100).unwrap();
    let mut counts = device.zeroed(device.most_resident_blocks()).unwrap();
    let mut launch = |memory: &mut TaskMemory<u32>, seeds: &[u32], panics| {
        let kernel = CountAll {
            queue: memory.fresh(&queue, seeds).unwrap(),
            panics,
            visits: visits.span_mut(),
            counts: counts.span_mut(),
        };
        queue.launch_cooperative(Blocks::Resident, kernel)
    };
    // The only task there is panics.
    let failed = launch(&mut memory, &[0], 0);
    assert!(matches!(failed, Err(LaunchError::Panicked { .. })), "{failed:?}");
    assert_eq!(memory.unfinished(&queue).unwrap(), []);
    // Nobody gets to the others.
    let seeds: Vec<u32> = (50..100).collect();
    launch(&mut memory, &seeds, u32::MAX).unwrap();
    launch(&mut memory, &[0], 49).unwrap_err();
    // It is used again as if nothing had happened.
    launch(&mut memory, &[], u32::MAX).unwrap();
    launch(&mut memory, &[99], u32::MAX).unwrap();
    assert_eq!(queue.download(&visits).unwrap()[99], 2);
}

pub(crate) fn a_grid_larger_than_its_queue_is_an_error(device: &Device) {
    if !survives_failures(device) {
        return;
    }
    let queue = queue(device);
    let mut memory = memory(&queue);
    let mut visits = device.zeroed(10).unwrap();
    let mut counts = device.zeroed(1).unwrap();
    let kernel = CountAll {
        queue: memory.fresh(&queue, &[0]).unwrap(),
        panics: u32::MAX,
        visits: visits.span_mut(),
        counts: counts.span_mut(),
    };
    let blocks = device.most_resident_blocks() + 1;
    assert!(queue.launch(Blocks::Exactly(blocks), kernel).is_err());
}
