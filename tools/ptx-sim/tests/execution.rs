//! Memory, blocks, warps, calls: what a kernel does beyond arithmetic, and every way in which it can go wrong.

mod common;

use common::{Parameters, Sim};
use ptx_sim::{FaultKind, Grid, LaunchError, Module};

const HEAD: &str = ".version 7.8\n.target sm_70\n.address_size 64\n";
const REGISTERS: &str = ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<8>;";

/// A kernel `k` with a pointer in `%rd1` and a word in `%r1`; the thread's index is in `%r0`, and the address of its own word in `%rd2`.
fn kernel(outside: &str, body: &str) -> String {
    format!(
        "{HEAD}{outside}
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
{{
    {REGISTERS}
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r1, [k_param_1];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd2, %r0, 4;
    add.s64 %rd2, %rd1, %rd2;
    {body}
    ret;
}}"
    )
}

fn parameters(address: u64, word: u32) -> Parameters {
    let mut parameters = Parameters::default();
    parameters.u64(address).u32(word);
    parameters
}

/// Runs the kernel on so many threads with a word for each, all 5 at the start; the words, or the fault.
fn words(shape: &str, outside: &str, body: &str, grid: Grid, count: usize) -> Result<Vec<u32>, Box<ptx_sim::Fault>> {
    let sim = Sim::new(shape, &kernel(outside, body));
    let out = sim.upload(&vec![5_u32; count]);
    match sim.run("k", grid, &parameters(out, 3)) {
        Ok(_) => Ok(sim.download(out, count)),
        Err(LaunchError::Fault(fault)) => Err(fault),
        Err(other) => panic!("{other}"),
    }
}

fn fault(shape: &str, body: &str, grid: Grid) -> Box<ptx_sim::Fault> {
    match words(shape, "", body, grid, 64) {
        Err(fault) => fault,
        Ok(words) => panic!("no fault, but {words:?}"),
    }
}

/// The line of a text in the kernel's text.
fn line_of(body: &str, text: &str) -> u32 {
    kernel("", body).lines().position(|line| line.contains(text)).unwrap() as u32 + 1
}

#[test]
fn an_access_one_element_too_far_is_found_and_named() {
    let body = "@%p0 bra END;
        ld.global.u32 %r2, [%rd2+4];
        END:";
    let fault = fault("", body, Grid::new(1, 64));
    assert_eq!(fault.kind, FaultKind::IllegalAddress);
    assert_eq!(
        (fault.kernel.as_str(), fault.block, fault.thread),
        ("k", [0; 3], [63, 0, 0])
    );
    assert_eq!(fault.line, line_of(body, "ld.global.u32"));
    assert!(
        fault.address.is_some_and(|a| a % 4 == 0) && fault.instruction.starts_with("ld.global.u32"),
        "{fault}"
    );
}

#[test]
fn a_null_pointer_and_a_freed_one_are_illegal_addresses() {
    assert_eq!(
        fault("", "mov.u64 %rd3, 0; st.u32 [%rd3], 1;", Grid::new(1, 1)).kind,
        FaultKind::IllegalAddress
    );
    let sim = Sim::new("", &kernel("", "st.global.u32 [%rd2], 1;"));
    let out = sim.upload(&[0_u32; 32]);
    sim.run("k", Grid::new(1, 32), &parameters(out, 0)).unwrap();
    assert!(sim.device.memory.free(out));
    assert_eq!(
        sim.fault("k", Grid::new(1, 32), &parameters(out, 0)).kind,
        FaultKind::IllegalAddress
    );
}

#[test]
fn a_misaligned_access_is_found() {
    let fault = fault("", "ld.global.v2.u32 {%r2, %r3}, [%rd2+4];", Grid::new(1, 1));
    assert_eq!(fault.kind, FaultKind::Misaligned);
}

#[test]
fn a_trap_names_block_and_thread() {
    let body = "mov.u32 %r2, %ctaid.y; setp.eq.u32 %p1, %r2, 2; setp.eq.and.u32 %p1, %r0, 7, %p1; @%p1 trap;";
    let grid = Grid {
        blocks: [1, 3, 1],
        ..Grid::new(1, 32)
    };
    let fault = fault("", body, grid);
    assert_eq!(
        (fault.kind, fault.block, fault.thread),
        (FaultKind::Trap, [0, 2, 0], [7, 0, 0])
    );
}

#[test]
fn stores_to_constants_are_refused() {
    let sim = Sim::new(
        "",
        &kernel(
            ".const .align 4 .u32 table[2] = {7, 8};",
            "mov.u64 %rd3, table; ld.const.u32 %r2, [%rd3+4]; st.global.u32 [%rd2], %r2;",
        ),
    );
    let out = sim.upload(&[0_u32]);
    sim.run("k", Grid::new(1, 1), &parameters(out, 0)).unwrap();
    assert_eq!(sim.download::<u32>(out, 1), [8]);
    let sim = Sim::new(
        "",
        &kernel(
            ".const .align 4 .u32 table[2] = {7, 8};",
            "mov.u64 %rd3, table; st.global.u32 [%rd3], 1;",
        ),
    );
    assert_eq!(
        sim.fault("k", Grid::new(1, 1), &parameters(0, 0)).kind,
        FaultKind::IllegalAddress
    );
}

#[test]
fn a_barrier_in_both_arms_of_a_branch_is_divergence() {
    let body = "setp.lt.u32 %p1, %r0, 40;
        @%p1 bra LOW;
        bar.sync 0; // the other
        bra END;
        LOW:
        bar.sync 0; // the one
        END: st.global.u32 [%rd2], 1;";
    for seed in 0..8 {
        let fault = fault(&format!("seed={seed}"), body, Grid::new(1, 64));
        assert_eq!(fault.kind, FaultKind::BarrierDivergence, "{fault}");
        let (one, other) = (line_of(body, "the one"), line_of(body, "the other"));
        assert!(
            fault.line == one && fault.detail.contains(&format!("line {other}"))
                || fault.line == other && fault.detail.contains(&format!("line {one}")),
            "{fault}"
        );
    }
}

#[test]
fn a_barrier_that_some_threads_never_reach_is_divergence() {
    let fault = fault("", "setp.eq.u32 %p1, %r0, 9; @%p1 exit; bar.sync 0;", Grid::new(2, 64));
    assert_eq!(fault.kind, FaultKind::BarrierDivergence);
    assert!(fault.detail.contains("1 threads of the block have ended"), "{fault}");
}

#[test]
fn an_unaligned_barrier_may_stand_at_several_places() {
    let body = "setp.lt.u32 %p1, %r0, 40; @%p1 bra LOW;
        barrier.sync 0; bra END;
        LOW: barrier.sync 0;
        END: st.global.u32 [%rd2], 1;";
    assert_eq!(words("", "", body, Grid::new(1, 64), 64).unwrap(), [1; 64]);
}

#[test]
fn a_counted_barrier_orders_producers_before_consumers() {
    // The second warp produces and arrives; the first waits.
    let body = "setp.ge.u32 %p1, %r0, 32; @%p1 bra PRODUCE;
        bar.sync 1, 64;
        ld.global.u32 %r2, [%rd2+128];
        st.global.u32 [%rd2], %r2;
        bra END;
        PRODUCE: add.u32 %r3, %r0, 100; st.global.u32 [%rd2], %r3; bar.arrive 1, 64;
        END:";
    for seed in 0..8 {
        let result = words(&format!("seed={seed}"), "", body, Grid::new(1, 64), 64).unwrap();
        assert_eq!(result[..32], (132..164).collect::<Vec<u32>>()[..]);
    }
}

#[test]
fn barriers_out_of_range_or_counted_differently_are_invalid() {
    let grid = Grid::new(1, 64);
    assert_eq!(fault("", "bar.sync 16;", grid).kind, FaultKind::InvalidBarrier);
    assert_eq!(fault("", "bar.sync 1, 33;", grid).kind, FaultKind::InvalidBarrier);
    assert_eq!(
        fault(
            "",
            "setp.lt.u32 %p1, %r0, 32; selp.u32 %r2, 64, 96, %p1; bar.sync 1, %r2;",
            grid
        )
        .kind,
        FaultKind::InvalidBarrier
    );
}

#[test]
fn waiting_for_a_store_that_nobody_makes_is_a_deadlock() {
    let body = "L: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 5; @%p1 bra L;";
    let found = fault("polls=20000", body, Grid::new(2, 64));
    assert_eq!(found.kind, FaultKind::Deadlock);
    assert!(found.detail.contains("128 at line"), "{found}");
    // Atomics that leave things as they are wait, too.
    let body = "L: atom.global.cas.b32 %r2, [%rd1], 7, 8; setp.ne.u32 %p1, %r2, 7; @%p1 bra L;";
    assert_eq!(fault("polls=20000", body, Grid::new(1, 64)).kind, FaultKind::Deadlock);
}

#[test]
fn a_thread_that_computes_long_keeps_others_waiting_without_harm() {
    let body = "setp.eq.u32 %p1, %r0, 0; @%p1 bra WORK;
        L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 5; @%p2 bra L;
        bra END;
        WORK: mov.u32 %r3, 0;
        M: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 200000; @%p3 bra M;
        st.global.u32 [%rd1], %r3;
        END:";
    assert_eq!(words("polls=5000", "", body, Grid::new(1, 40), 40).unwrap()[0], 200_000);
}

#[test]
fn a_loop_without_end_reaches_the_limit() {
    assert_eq!(
        fault("steps=100000", "L: add.u32 %r2, %r2, 1; bra L;", Grid::new(1, 32)).kind,
        FaultKind::StepLimit
    );
}

#[test]
fn a_lock_taken_by_one_lane_of_a_warp_does_not_hang_the_others() {
    let body = "L: atom.acquire.gpu.global.cas.b32 %r2, [%rd1+4], 5, 1; setp.ne.u32 %p1, %r2, 5; @%p1 bra L;
        ld.volatile.global.u32 %r3, [%rd1]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1], %r3;
        st.release.gpu.global.u32 [%rd1+4], 5;";
    for seed in 0..4 {
        assert_eq!(
            words(&format!("seed={seed}"), "", body, Grid::new(4, 64), 2).unwrap(),
            [5 + 256, 5]
        );
    }
}

#[test]
fn blocks_beyond_the_resident_ones_start_when_others_end() {
    let body = "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd3, %rd1, %rd3; red.relaxed.gpu.global.add.u32 [%rd3], 1;";
    assert_eq!(
        words("mps=1,blocks=2", "", body, Grid::new(50, 33), 50).unwrap(),
        [5 + 33; 50]
    );
}

#[test]
fn a_cooperative_launch_of_too_many_blocks_is_refused() {
    let sim = Sim::new("mps=2,blocks=3", &kernel("", ""));
    let grid = |blocks| Grid {
        cooperative: true,
        ..Grid::new(blocks, 32)
    };
    assert!(matches!(
        sim.run("k", grid(7), &parameters(0, 0)),
        Err(LaunchError::NotResident(7, 6))
    ));
    sim.run("k", grid(6), &parameters(0, 0)).unwrap();
}

#[test]
fn atomics_leave_what_they_should_and_give_back_what_was_there() {
    let one = |name: &str, b: &str, space: &str| {
        let body = match space {
            "shared" => format!(
                "st.shared.u32 [buffer], 5; {} %r2, [buffer], {b}; ld.shared.u32 %r3, [buffer];",
                name.replace("SPACE", "shared")
            ),
            _ => format!(
                "{} %r2, [%rd1], {b}; ld.global.u32 %r3, [%rd1];",
                name.replace("SPACE", "global")
            ),
        };
        let outside = ".shared .align 4 .b8 buffer[4];";
        let result = words(
            "",
            outside,
            &format!("{body} st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+4], %r3;"),
            Grid::new(1, 1),
            2,
        )
        .unwrap();
        assert_eq!(result[0], 5, "{name}");
        result[1]
    };
    for space in ["global", "shared"] {
        assert_eq!(one("atom.relaxed.gpu.SPACE.add.u32", "7", space), 12);
        assert_eq!(one("atom.acq_rel.sys.SPACE.exch.b32", "7", space), 7);
        assert_eq!(one("atom.release.cta.SPACE.cas.b32", "5, 9", space), 9);
        assert_eq!(one("atom.acquire.gpu.SPACE.cas.b32", "4, 9", space), 5);
        assert_eq!(one("atom.SPACE.and.b32", "6", space), 4);
        assert_eq!(one("atom.SPACE.or.b32", "8", space), 13);
        assert_eq!(one("atom.SPACE.xor.b32", "1", space), 4);
        assert_eq!(one("atom.SPACE.min.s32", "-1", space), u32::MAX);
        assert_eq!(one("atom.SPACE.max.u32", "-1", space), u32::MAX);
        assert_eq!(one("atom.SPACE.min.u32", "-1", space), 5);
        assert_eq!(one("atom.SPACE.inc.u32", "5", space), 0);
        assert_eq!(one("atom.SPACE.inc.u32", "6", space), 6);
        assert_eq!(one("atom.SPACE.dec.u32", "3", space), 3);
        assert_eq!(one("atom.SPACE.dec.u32", "9", space), 4);
    }
}

#[test]
fn singles_below_the_normal_range_vanish_in_global_atomics_only() {
    let body = "mov.b32 %r2, 1; st.global.b32 [%rd1], 0; atom.global.add.f32 %f1, [%rd1], %r2;
        st.shared.b32 [buffer], 0; atom.shared.add.f32 %f1, [buffer], %r2; ld.shared.u32 %r3, [buffer]; st.global.u32 [%rd1+4], %r3;";
    assert_eq!(
        words("", ".shared .align 4 .b8 buffer[4];", body, Grid::new(1, 1), 2).unwrap(),
        [0, 1]
    );
}

#[test]
fn loads_extend_and_vectors_spread() {
    let body = "st.global.u32 [%rd1], 0x80f0; ld.global.s8 %r2, [%rd1]; ld.global.u8 %r3, [%rd1]; ld.global.s16 %r4, [%rd1];
        st.global.v4.u32 [%rd1], {%r2, %r3, %r4, 1}; ld.global.v2.u32 {%r5, %r6}, [%rd1+8]; st.global.u32 [%rd1+16], %r5; st.global.u32 [%rd1+20], %r6;";
    let expected = [(-16_i32) as u32, 0xf0, 0xffff_80f0, 1, 0xffff_80f0, 1, 5, 5];
    assert_eq!(words("", "", body, Grid::new(1, 1), 8).unwrap(), expected);
}

#[test]
fn the_stack_of_a_thread_is_its_own_and_has_a_generic_address() {
    let body = ".local .align 8 .b8 depot[8];
        mov.u64 %rd3, depot; cvta.local.u64 %rd4, %rd3;
        st.local.u32 [%rd3], %r0; st.u32 [%rd4+4], %r0; ld.local.u32 %r2, [depot+4]; ld.u32 %r3, [%rd4]; add.u32 %r2, %r2, %r3;
        isspacep.local %p1, %rd4; isspacep.global %p2, %rd1; and.pred %p1, %p1, %p2; @!%p1 trap;
        st.global.u32 [%rd2], %r2;";
    assert_eq!(
        words("", "", body, Grid::new(1, 64), 64).unwrap(),
        (0..64).map(|i| 2 * i).collect::<Vec<u32>>()
    );
    let fault = fault(
        "",
        ".local .align 8 .b8 depot[8]; st.local.u32 [depot+16], %r0;",
        Grid::new(1, 1),
    );
    assert_eq!(fault.kind, FaultKind::IllegalAddress);
}

#[test]
fn shared_memory_is_static_and_dynamic_and_has_a_generic_address() {
    let outside = ".shared .align 16 .b8 fixed[256];\n.extern .shared .align 16 .b8 dynamic[];";
    let body = "mov.u32 %r2, dynamic; mov.u32 %r3, fixed; shl.b32 %r4, %r0, 2; add.u32 %r2, %r2, %r4; add.u32 %r3, %r3, %r4;
        st.shared.u32 [%r2], %r0; add.u32 %r5, %r0, 100; st.shared.u32 [%r3], %r5; bar.sync 0;
        cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd3, %rd3; isspacep.shared %p1, %rd3; @!%p1 trap; ld.u32 %r6, [%rd3]; ld.shared.u32 %r7, [%r3]; add.u32 %r6, %r6, %r7;
        mov.u32 %r8, %dynamic_smem_size; setp.ne.u32 %p2, %r8, 256; @%p2 trap; st.global.u32 [%rd2], %r6;";
    let grid = Grid {
        shared: 256,
        ..Grid::new(1, 64)
    };
    assert_eq!(
        words("", outside, body, grid, 64).unwrap(),
        (0..64).map(|i| 2 * i + 100).collect::<Vec<u32>>()
    );
    assert_eq!(
        Module::parse(&kernel(outside, body))
            .unwrap()
            .kernel("k")
            .unwrap()
            .static_shared(),
        256
    );
    assert!(words("", outside, body, Grid { shared: 252, ..grid }, 64).is_err());
}

#[test]
fn warp_operations_combine_the_lanes_that_they_name() {
    let body = |ops: &str| format!("{ops} st.global.u32 [%rd2], %r9;");
    let run = |ops: &str| words("", "", &body(ops), Grid::new(1, 32), 32).unwrap();
    let all = |f: &dyn Fn(u32) -> u32| (0..32).map(f).collect::<Vec<u32>>();
    assert_eq!(
        run("shfl.sync.up.b32 %r9, %r0, 1, 0, -1;"),
        all(&|i| i.saturating_sub(1))
    );
    assert_eq!(
        run("shfl.sync.down.b32 %r9, %r0, 2, 31, -1;"),
        all(&|i| if i < 30 { i + 2 } else { i })
    );
    assert_eq!(run("shfl.sync.bfly.b32 %r9, %r0, 3, 31, -1;"), all(&|i| i ^ 3));
    assert_eq!(run("shfl.sync.idx.b32 %r9, %r0, 5, 31, -1;"), [5; 32]);
    // Segments of eight lanes.
    assert_eq!(
        run("shfl.sync.idx.b32 %r9, %r0, 5, 0x181f, -1;"),
        all(&|i| i / 8 * 8 + 5)
    );
    assert_eq!(
        run("shfl.sync.down.b32 %r9|%p1, %r0, 1, 0x181f, -1; selp.u32 %r9, %r9, 99, %p1;"),
        all(&|i| if i % 8 == 7 { 99 } else { i + 1 })
    );
    assert_eq!(
        run("setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r9, %p1, -1;"),
        [0x1f; 32]
    );
    assert_eq!(
        run(
            "setp.lt.u32 %p1, %r0, 5; vote.sync.any.pred %p2, !%p1, -1; vote.sync.all.pred %p3, %p1, -1; selp.u32 %r9, 1, 0, %p2; selp.u32 %r8, 2, 0, %p3; or.b32 %r9, %r9, %r8;"
        ),
        [1; 32]
    );
    assert_eq!(
        run("and.b32 %r2, %r0, 3; match.any.sync.b32 %r9, %r2, -1;"),
        all(&|i| 0x1111_1111 << (i % 4))
    );
    assert_eq!(
        run("mov.u32 %r2, 7; match.all.sync.b32 %r9|%p1, %r2, -1;"),
        [u32::MAX; 32]
    );
    assert_eq!(run("redux.sync.add.s32 %r9, %r0, -1;"), [496; 32]);
    assert_eq!(
        run("sub.s32 %r2, %r0, 5; redux.sync.min.s32 %r9, %r2, -1;"),
        [(-5_i32) as u32; 32]
    );
    assert_eq!(run("activemask.b32 %r9;"), [u32::MAX; 32]);
    assert_eq!(run("mov.u32 %r9, %lanemask_lt;"), all(&|i| (1 << i) - 1));
    // Only half of the warp takes part, from inside a branch.
    assert_eq!(
        run(
            "mov.u32 %r9, 1000; setp.ge.u32 %p1, %r0, 16; @%p1 bra END; shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xffff; END:"
        ),
        all(&|i| if i < 16 { i ^ 1 } else { 1000 })
    );
}

#[test]
fn lanes_that_wait_for_lanes_which_stand_elsewhere_are_divergence() {
    let body = "setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
        shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1; bra END;
        LOW: shfl.sync.bfly.b32 %r2, %r0, 2, 31, -1;
        END:";
    assert_eq!(fault("", body, Grid::new(1, 32)).kind, FaultKind::WarpDivergence);
    assert_eq!(
        fault("", "shfl.sync.bfly.b32 %r2, %r0, 1, 31, 1;", Grid::new(1, 32)).kind,
        FaultKind::WarpDivergence
    );
    // A mere meeting may be at several places.
    let body = "setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW; bar.warp.sync -1; bra END; LOW: bar.warp.sync -1; END: st.global.u32 [%rd2], 1;";
    assert_eq!(words("", "", body, Grid::new(1, 32), 32).unwrap(), [1; 32]);
}

#[test]
fn functions_recurse_and_are_called_through_registers() {
    let outside = ".func (.param .b32 result) factorial(.param .b32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>;
    ld.param.u32 %r1, [n];
    setp.le.u32 %p1, %r1, 1;
    @%p1 bra ONE;
    add.s32 %r2, %r1, -1;
    { .param .b32 argument; .param .b32 answer;
      st.param.b32 [argument], %r2;
      call.uni (answer), factorial, (argument);
      ld.param.b32 %r3, [answer]; }
    mul.lo.s32 %r4, %r1, %r3;
    st.param.b32 [result], %r4;
    ret;
ONE:
    st.param.b32 [result], 1;
    ret;
}
.global .align 8 .u64 table[2] = {0, factorial};";
    let body = "and.b32 %r2, %r0, 7;
        mov.u64 %rd3, table; ld.global.u64 %rd4, [%rd3+8];
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;
          shape : .callprototype (.param .b32 _) _ (.param .b32 _);
          call (b), %rd4, (a), shape;
          ld.param.b32 %r3, [b]; }
        st.global.u32 [%rd2], %r3;";
    let expected: Vec<u32> = (0..64).map(|i| (1..=i % 8).product()).collect();
    for seed in 0..4 {
        assert_eq!(
            words(&format!("seed={seed}"), outside, body, Grid::new(1, 64), 64).unwrap(),
            expected
        );
    }
    // An address that is no function's.
    let wild = body.replace("[%rd3+8]", "[%rd3]");
    assert_eq!(
        words("", outside, &wild, Grid::new(1, 1), 1).unwrap_err().kind,
        FaultKind::IllegalInstruction
    );
    // A trap inside says how it came there.
    let trapping = outside.replace("ONE:", "ONE: trap;");
    let fault = words("", &trapping, body, Grid::new(1, 1), 1).unwrap_err();
    assert!(
        fault.kind == FaultKind::Trap && fault.detail.contains("called at line"),
        "{fault}"
    );
    let endless = outside.replace("@%p1 bra ONE;", "");
    assert_eq!(
        words("", &endless, body, Grid::new(1, 1), 1).unwrap_err().kind,
        FaultKind::StackOverflow
    );
}

#[test]
fn a_table_of_targets_jumps_by_index() {
    let body = "and.b32 %r2, %r0, 3;
        targets: .branchtargets A, B, C, A;
        brx.idx %r2, targets;
        A: mov.u32 %r3, 10; bra END;
        B: mov.u32 %r3, 20; bra END;
        C: mov.u32 %r3, 30;
        END: st.global.u32 [%rd2], %r3;";
    let expected: Vec<u32> = (0..32).map(|i| [10, 20, 30, 10][i % 4]).collect();
    assert_eq!(words("", "", body, Grid::new(1, 32), 32).unwrap(), expected);
}

#[test]
fn aggregates_arrive_by_value_and_parameters_have_a_generic_address() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .align 8 .b8 k_param_0[24], .param .u32 k_param_1)
{{
    {REGISTERS}
    ld.param.u64 %rd1, [k_param_0+8];
    ld.param.v2.u32 {{%r2, %r3}}, [k_param_0+16];
    mov.b64 %rd3, k_param_0; cvta.param.u64 %rd3, %rd3; ld.u32 %r4, [%rd3];
    ld.param.u32 %r5, [k_param_1];
    st.global.v4.u32 [%rd1], {{%r2, %r3, %r4, %r5}};
    ret;
}}"
    );
    let sim = Sim::new("", &text);
    let out = sim.upload(&[0_u32; 4]);
    let mut parameters = Parameters::default();
    parameters.u32(3).u32(0).u64(out).u32(1).u32(2).u32(4);
    sim.run("k", Grid::new(1, 1), &parameters).unwrap();
    assert_eq!(sim.download::<u32>(out, 4), [1, 2, 3, 4]);
    assert!(matches!(
        sim.loaded.launch("k", Grid::new(1, 1), &[0; 4]),
        Err(LaunchError::ParameterSize(4, 28))
    ));
}

#[test]
fn threads_and_blocks_have_three_axes() {
    let body = "mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r0;
        mov.u32 %r7, %ctaid.z; mov.u32 %r8, %nctaid.y; mov.u32 %r9, %ctaid.y; mad.lo.u32 %r7, %r7, %r8, %r9; mul.lo.u32 %r7, %r7, 24; add.u32 %r6, %r6, %r7;
        mul.wide.u32 %rd3, %r6, 4; add.s64 %rd3, %rd1, %rd3; red.global.add.u32 [%rd3], 1;";
    let grid = Grid {
        blocks: [1, 2, 3],
        threads: [4, 3, 2],
        shared: 0,
        cooperative: false,
    };
    assert_eq!(words("", "", body, grid, 144).unwrap(), [6; 144]);
}

#[test]
fn what_is_not_known_is_refused_by_name_and_line() {
    let refusal = |outside: &str, body: &str| Module::parse(&kernel(outside, body)).unwrap_err();
    let body = "add.s32 %r2, %r1, 1;
        wgmma.fence.sync.aligned;";
    let error = refusal("", body);
    assert_eq!(error.line, line_of(body, "wgmma"));
    assert!(error.message.contains("`wgmma.fence.sync.aligned`"), "{error}");
    // Also in code that is never reached, and also a known name with an unknown addition.
    assert!(
        refusal("", "bra END; add.rz.f32 %f1, %f1, %f1; END:")
            .message
            .contains("`add.rz.f32`")
    );
    assert!(
        refusal("", "red.acquire.gpu.global.add.u32 [%rd1], 1;")
            .message
            .contains("`red.acquire.gpu.global.add.u32`")
    );
    assert!(
        refusal("", "atom.global.add.s64 %rd3, [%rd1], 1;")
            .message
            .contains("`atom.global.add.s64`")
    );
    assert!(refusal("", "bra NOWHERE;").message.contains("`NOWHERE`"));
    assert!(refusal("", "mov.u32 %r99, 1;").message.contains("`%r99`"));
    assert!(
        refusal("", "add.u32 %r1, %p1, 1;")
            .message
            .contains("`%p1` is a predicate")
    );
    assert!(
        refusal("", "call.uni vprintf, ();")
            .message
            .contains("`vprintf` is called and defined nowhere")
    );
    assert!(
        refusal(".extern .global .align 4 .u32 missing;", "")
            .message
            .contains("`missing`")
    );
    assert!(
        refusal(".extern .func missing();", "call.uni missing, ();")
            .message
            .contains("`missing`")
    );
}

#[test]
fn launches_are_checked() {
    let sim = Sim::new("threads=256,shared=1024", &kernel("", ""));
    let run = |grid| sim.run("k", grid, &parameters(0, 0));
    assert!(matches!(run(Grid::new(0, 32)), Err(LaunchError::InvalidSize("grid"))));
    assert!(matches!(run(Grid::new(1, 0)), Err(LaunchError::InvalidSize("block"))));
    assert!(matches!(run(Grid::new(1, 257)), Err(LaunchError::InvalidSize("block"))));
    assert!(matches!(
        run(Grid {
            shared: 2049,
            ..Grid::new(1, 1)
        }),
        Err(LaunchError::InvalidSize("shared memory"))
    ));
    assert!(matches!(
        sim.run("other", Grid::new(1, 1), &parameters(0, 0)),
        Err(LaunchError::NoSuchKernel(_))
    ));
    run(Grid {
        shared: 2048,
        ..Grid::new(1, 256)
    })
    .unwrap();
}

#[test]
fn one_seed_gives_one_run() {
    // Every thread notes the order in which it comes.
    let body = "atom.global.add.u32 %r2, [%rd1], 1; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r4, %r4, %r5, %r0;
        mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd1; st.global.u32 [%rd3+4], %r2;";
    let run = |seed: u32| words(&format!("seed={seed}"), "", body, Grid::new(6, 64), 400).unwrap();
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}
