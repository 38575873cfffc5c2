//! Kernels as rustc compiled them run and give what their source says.

mod common;

use common::Sim;
use ptx_sim::{FaultKind, Grid};

#[test]
fn axpy_computes_and_traps_outside_of_its_buffers() {
    let sim = Sim::new("", include_str!("ptx/first_kernels.ptx"));
    let n = 1000_u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (px, py) = (sim.upload(&x), sim.upload(&vec![1.0_f32; n as usize]));
    let mut parameters = common::Parameters::default();
    parameters
        .u64(px)
        .u64(n.into())
        .u64(py)
        .u64(n.into())
        .u32(2.0_f32.to_bits())
        .u32(n);
    sim.run("axpy_f32", Grid::new(2, 64), &parameters).unwrap();
    assert_eq!(
        sim.download::<f32>(py, n as usize),
        (0..n).map(|i| 2.0 * i as f32 + 1.0).collect::<Vec<_>>()
    );

    let mut parameters = common::Parameters::default();
    parameters
        .u64(px)
        .u64(10)
        .u64(py)
        .u64(n.into())
        .u32(2.0_f32.to_bits())
        .u32(n);
    let fault = sim.fault("axpy_f32", Grid::new(1, 64), &parameters);
    assert_eq!(fault.kind, FaultKind::Trap);
    assert!(fault.instruction.starts_with("trap"), "{fault}");
}

#[test]
fn a_block_sums_through_shared_memory_and_barriers() {
    for seed in 0..8 {
        let sim = Sim::new(&format!("seed={seed}"), include_str!("ptx/first_kernels.ptx"));
        let n = 1000_u32;
        let x: Vec<u32> = (0..n).collect();
        let (px, out) = (sim.upload(&x), sim.upload(&[0_u32]));
        let mut parameters = common::Parameters::default();
        parameters.u64(px).u64(n.into()).u64(out).u64(1);
        sim.run(
            "sum_u32",
            Grid {
                shared: 256,
                ..Grid::new(3, 64)
            },
            &parameters,
        )
        .unwrap();
        assert_eq!(sim.download::<u32>(out, 1), [n * (n - 1) / 2]);
    }
}

#[test]
fn a_grid_barrier_orders_rounds_under_every_schedule_tried() {
    for seed in 0..16 {
        let sim = Sim::new(&format!("seed={seed}"), include_str!("ptx/grid_barrier.ptx"));
        let (blocks, threads, rounds) = (5_u32, 40_u32, 4_u32);
        let n = blocks * threads;
        let word = sim.upload(&[0_u32]);
        let (a, b) = (
            sim.upload(&(0..n).collect::<Vec<u32>>()),
            sim.upload(&vec![0_u32; n as usize]),
        );
        let mut parameters = common::Parameters::default();
        parameters.u64(word).u64(a).u64(b).u32(rounds);
        sim.run(
            "rotate",
            Grid {
                cooperative: true,
                ..Grid::new(blocks, threads)
            },
            &parameters,
        )
        .unwrap();
        let expected: Vec<u32> = (0..n).map(|i| (i + rounds) % n + rounds).collect();
        assert_eq!(sim.download::<u32>(a, n as usize), expected, "seed {seed}");
    }
}

#[test]
fn a_grid_barrier_of_blocks_that_are_not_resident_is_a_deadlock() {
    let sim = Sim::new("mps=2,blocks=2,polls=20000", include_str!("ptx/grid_barrier.ptx"));
    let word = sim.upload(&[0_u32]);
    let (a, b) = (sim.upload(&[0_u32; 160]), sim.upload(&[0_u32; 160]));
    let mut parameters = common::Parameters::default();
    parameters.u64(word).u64(a).u64(b).u32(2);
    let fault = sim.fault("rotate", Grid::new(5, 32), &parameters);
    assert_eq!(fault.kind, FaultKind::Deadlock);
    assert!(fault.detail.contains("1 blocks have not started"), "{fault}");
}

#[test]
fn barriers_with_reductions_and_counts_give_every_thread_the_same() {
    let sim = Sim::new("", include_str!("ptx/barriers.ptx"));
    let out = sim.upload(&[0_u32; 64]);
    let mut parameters = common::Parameters::default();
    parameters.u64(out).u32(64);
    // Barrier 2 sees two arrivals of 64 and is left open; barrier 64 & 15 = 0 takes 64.
    sim.run("blockk", Grid::new(1, 64), &parameters).unwrap();
    let expected: Vec<u32> = (0..64_u32)
        .map(|t| {
            let x = t + 32 + 1;
            if (0..64).all(|t| t + 32 + 1 < 100) { x + 7 } else { x }
        })
        .collect();
    // `or` asks whether some thread has 3: none has, since 32 threads voted.
    let expected: Vec<u32> = expected.iter().map(|x| x - 1).collect();
    assert_eq!(sim.download::<u32>(out, 64), expected);
}

#[test]
fn lanes_meet_again_behind_a_branch_and_shuffle() {
    for seed in 0..8 {
        let sim = Sim::new(&format!("seed={seed}"), include_str!("ptx/barriers.ptx"));
        let input: Vec<u32> = (0..64).map(|i| 1000 + i).collect();
        let out = sim.upload(&input);
        let mut parameters = common::Parameters::default();
        parameters.u64(out).u32(0);
        sim.run("nodup", Grid::new(1, 32), &parameters).unwrap();
        // No thread is below zero: each takes its own index, and stores its neighbour's two slots on.
        let result = sim.download::<u32>(out, 64);
        assert_eq!(result[2..34], (0..32).map(|i| i ^ 1).collect::<Vec<u32>>()[..]);
    }
}

#[test]
fn a_call_passes_parameters_and_meets_a_barrier_inside() {
    let sim = Sim::new("", include_str!("ptx/barriers.ptx"));
    let out = sim.upload(&[0_u32; 4]);
    let mut parameters = common::Parameters::default();
    parameters.u64(out).u32(64);
    sim.run("nodup2", Grid::new(1, 64), &parameters).unwrap();
    assert_eq!(sim.download::<u32>(out, 2), [4, 4]);
}

#[test]
fn addresses_of_every_kind_lead_to_the_same_memory() {
    let sim = Sim::new("", include_str!("ptx/addresses.ptx"));
    let n = 1000_u64;
    let input = sim.upload(&(0..n).map(|i| i as f32).collect::<Vec<f32>>());
    let out = sim.upload(&[0.0_f32; 256]);
    let expected: Vec<f32> = (0..256_u64)
        .map(|t| (t..n).step_by(256).fold(0.0, |sum, i| sum + i as f32 * 0.5))
        .collect();
    let half = 0.5_f32.to_bits();
    let mut fields = common::Parameters::default();
    fields.u64(input).u64(n).u32(half).u64(out);
    let mut base = common::Parameters::default();
    base.u64(0).u64(input).u64(n).u32(half).u64(out);
    let mut anchor = common::Parameters::default();
    anchor.u64(input).u64(n).u32(half).u64(out);
    for (name, parameters) in [("a_fields", fields), ("b_base", base), ("c_anchor", anchor)] {
        sim.fill(out, 1024);
        // Parameters of a by-value struct are laid out as `repr(C)` lays them out.
        sim.run(name, Grid::new(1, 256), &parameters).unwrap();
        assert_eq!(sim.download::<f32>(out, 256), expected, "{name}");
    }
    let words = sim.upload(&[0_u32; 64]);
    let mut parameters = common::Parameters::default();
    parameters.u64(words);
    let fault = sim.fault(
        "d_asm",
        Grid {
            shared: 256,
            ..Grid::new(1, 64)
        },
        &parameters,
    );
    // The last thread reads one word behind the block's shared memory.
    assert_eq!(
        (fault.kind, fault.address),
        (FaultKind::IllegalAddress, Some(256)),
        "{fault}"
    );
    sim.run(
        "d_asm",
        Grid {
            shared: 260,
            ..Grid::new(1, 64)
        },
        &parameters,
    )
    .unwrap();
}
