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
    let blocks = device.most_resident_blocks();
    let mut memory = memory(&queue);
    // The result, how often each node was visited, and what is left.
    let mut launch = |seeds: &[u32], panics| {
        let (mut visits, mut counts) = (device.zeroed(100).unwrap(), device.zeroed(blocks).unwrap());
        let kernel = CountAll {
            queue: memory.fresh(&queue, seeds).unwrap(),
            panics,
            visits: visits.span_mut(),
            counts: counts.span_mut(),
        };
        let result = queue.launch_cooperative(Blocks::Resident, kernel);
        let visits = queue.download(&visits).unwrap();
        (result, visits, memory.unfinished(&queue).unwrap())
    };
    // The only task there is panics.
    let (failed, _, left) = launch(&[0], 0);
    assert!(matches!(failed, Err(LaunchError::Panicked { .. })), "{failed:?}");
    assert_eq!(left, []);
    // Seeds that make no tasks, the first of which panics: what is not left was run, or a block had begun it.
    let mut seeds: Vec<u32> = (50..100).collect();
    seeds.swap(0, 25);
    let (failed, visits, left) = launch(&seeds, 75);
    assert!(failed.is_err());
    let times = |seed: u32| visits[seed as usize] as usize + left.iter().filter(|&&task| task == seed).count();
    assert!((50..100).all(|seed| times(seed) <= 1), "{visits:?} and {left:?}");
    let gone: Vec<u32> = (50..100).filter(|&seed| times(seed) == 0).collect();
    assert!(
        gone.contains(&75) && gone.len() <= blocks,
        "{gone:?} of {blocks} blocks"
    );
    // Tasks that were made are left as well, and used again as seeds they are run, and what they make.
    let (failed, _, left) = launch(&[0], 1);
    assert!(failed.is_err());
    let (done, visits, none) = launch(&left, u32::MAX);
    done.unwrap();
    assert_eq!(none, []);
    assert!(left.iter().all(|&task| visits[task as usize] == 1), "{left:?}");
    // It is used again as if nothing had happened.
    launch(&[], u32::MAX).0.unwrap();
    let (done, visits, _) = launch(&[99], u32::MAX);
    done.unwrap();
    assert_eq!(visits[99], 1);
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
