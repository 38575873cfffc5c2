//! Every instruction that computes, against Rust's own arithmetic, on random and on awkward operands.

mod common;

use common::{Parameters, Sim};
use proptest::prelude::*;
use ptx_sim::Grid;
use std::cmp::Ordering;

/// The operands `a`, `b` and `c` stand in `%rd1..3`, their low halves in `%r1..3` and `%f1..3`, and their low quarters in `%rs1..3`. What the
/// instructions leave in `%rd9` is the result.
fn kernel(body: &str) -> String {
    format!(
        "
.version 7.8
.target sm_70
.address_size 64
.visible .entry compute(.param .u64 compute_param_0, .param .u64 compute_param_1)
{{
    .reg .pred %p<8>; .reg .b16 %rs<10>; .reg .b32 %r<10>; .reg .b64 %rd<16>; .reg .f32 %f<10>; .reg .f64 %fd<10>;
    ld.param.u64 %rd10, [compute_param_0];
    ld.param.u64 %rd11, [compute_param_1];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd12, %r0, 24;
    add.s64 %rd10, %rd10, %rd12;
    mul.wide.u32 %rd12, %r0, 8;
    add.s64 %rd11, %rd11, %rd12;
    ld.global.u64 %rd1, [%rd10];
    ld.global.u64 %rd2, [%rd10+8];
    ld.global.u64 %rd3, [%rd10+16];
    cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;
    cvt.u16.u64 %rs1, %rd1; cvt.u16.u64 %rs2, %rd2; cvt.u16.u64 %rs3, %rd3;
    mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;
    mov.b64 %fd1, %rd1; mov.b64 %fd2, %rd2; mov.b64 %fd3, %rd3;
    {body}
    st.global.u64 [%rd11], %rd9;
    ret;
}}"
    )
}

/// Instructions, and what they should compute.
type Case = (String, fn(u64, u64, u64) -> u64);

fn check(cases: &[Case], operands: &[[u64; 3]]) {
    for (body, expected) in cases {
        let sim = Sim::new("", &kernel(body));
        let input = sim.upload(&operands.concat());
        let output = sim.upload(&vec![0_u64; operands.len()]);
        let mut parameters = Parameters::default();
        parameters.u64(input).u64(output);
        sim.run("compute", Grid::new(1, operands.len() as u32), &parameters)
            .unwrap();
        for (result, &[a, b, c]) in sim.download::<u64>(output, operands.len()).into_iter().zip(operands) {
            let wanted = expected(a, b, c);
            assert_eq!(
                result, wanted,
                "{body}\n  a {a:#x}\n  b {b:#x}\n  c {c:#x}\n  gives {result:#x}, not {wanted:#x}"
            );
        }
    }
}

/// Numbers that are likely to be treated wrongly, as singles, doubles and integers of every width.
fn operand() -> impl Strategy<Value = u64> {
    let awkward = prop::sample::select(vec![
        0,
        1,
        2,
        31,
        32,
        33,
        63,
        64,
        65,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 32,
        1 << 63,
        u64::MAX,
        u64::MAX >> 1,
        u64::from(f32::NAN.to_bits()),
        u64::from(f32::INFINITY.to_bits()),
        u64::from(f32::NEG_INFINITY.to_bits()),
        u64::from(1.5_f32.to_bits()),
        u64::from((-2.5_f32).to_bits()),
        u64::from(3e9_f32.to_bits()),
        f64::NAN.to_bits(),
        f64::INFINITY.to_bits(),
        (-2.5_f64).to_bits(),
        0.5_f64.to_bits(),
        1e300_f64.to_bits(),
    ]);
    prop_oneof![
        awkward,
        any::<u64>(),
        any::<u32>().prop_map(u64::from),
        (-100.0..100.0_f32).prop_map(|x| x.to_bits().into()),
        (-1e10..1e10_f64).prop_map(f64::to_bits),
    ]
}

fn operands() -> impl Strategy<Value = Vec<[u64; 3]>> {
    prop::collection::vec([operand(), operand(), operand()], 64)
}

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Two operands of 32 bits.
fn r2(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (format!("{name} %r9, %r1, %r2; cvt.u64.u32 %rd9, %r9;"), f)
}

fn r1(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (format!("{name} %r9, %r1; cvt.u64.u32 %rd9, %r9;"), f)
}

fn r3(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (format!("{name} %r9, %r1, %r2, %r3; cvt.u64.u32 %rd9, %r9;"), f)
}

/// Two operands of 64 bits.
fn d2(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (format!("{name} %rd9, %rd1, %rd2;"), f)
}

/// Two operands of 16 bits.
fn h2(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (format!("{name} %rs9, %rs1, %rs2; cvt.u64.u16 %rd9, %rs9;"), f)
}

/// A comparison, as zero or one.
fn compares(name: &str, kind: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (
        format!("setp.{name} %p1, {kind}1, {kind}2; selp.u64 %rd9, 1, 0, %p1;"),
        f,
    )
}

#[test]
fn integers() {
    let cases = [
        r2("add.s32", |a, b, _| (a as u32).wrapping_add(b as u32).into()),
        r2("sub.u32", |a, b, _| (a as u32).wrapping_sub(b as u32).into()),
        d2("add.s64", |a, b, _| a.wrapping_add(b)),
        d2("sub.s64", |a, b, _| a.wrapping_sub(b)),
        h2("add.u16", |a, b, _| (a as u16).wrapping_add(b as u16).into()),
        r2("add.sat.s32", |a, b, _| {
            (a as i32).saturating_add(b as i32) as u32 as u64
        }),
        r2("mul.lo.s32", |a, b, _| (a as u32).wrapping_mul(b as u32).into()),
        r2("mul.hi.u32", |a, b, _| {
            (u64::from(a as u32) * u64::from(b as u32)) >> 32
        }),
        r2("mul.hi.s32", |a, b, _| {
            ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32 as u64
        }),
        d2("mul.lo.u64", |a, b, _| a.wrapping_mul(b)),
        d2("mul.hi.u64", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        d2("mul.hi.s64", |a, b, _| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }),
        ("mul.wide.u32 %rd9, %r1, %r2;".into(), |a, b, _| {
            u64::from(a as u32) * u64::from(b as u32)
        }),
        ("mul.wide.s32 %rd9, %r1, %r2;".into(), |a, b, _| {
            (i64::from(a as i32) * i64::from(b as i32)) as u64
        }),
        (
            "mul.wide.s16 %r9, %rs1, %rs2; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, _| (i32::from(a as i16) * i32::from(b as i16)) as u32 as u64,
        ),
        r3("mad.lo.s32", |a, b, c| {
            (a as u32).wrapping_mul(b as u32).wrapping_add(c as u32).into()
        }),
        r3("mad.hi.u32", |a, b, c| {
            (((u64::from(a as u32) * u64::from(b as u32)) >> 32) as u32)
                .wrapping_add(c as u32)
                .into()
        }),
        ("mad.lo.s64 %rd9, %rd1, %rd2, %rd3;".into(), |a, b, c| {
            a.wrapping_mul(b).wrapping_add(c)
        }),
        ("mad.wide.u32 %rd9, %r1, %r2, %rd3;".into(), |a, b, c| {
            (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)
        }),
        r3("sad.s32", |a, b, c| {
            (c as u32).wrapping_add((a as i32).abs_diff(b as i32)).into()
        }),
        r2("div.u32", |a, b, _| {
            (a as u32).checked_div(b as u32).unwrap_or(u32::MAX).into()
        }),
        r2("div.s32", |a, b, _| {
            if b as i32 == 0 {
                0xffff_ffff
            } else {
                (a as i32).wrapping_div(b as i32) as u32 as u64
            }
        }),
        r2("rem.s32", |a, b, _| {
            if b as i32 == 0 {
                a as u32 as u64
            } else {
                (a as i32).wrapping_rem(b as i32) as u32 as u64
            }
        }),
        d2("div.s64", |a, b, _| {
            if b == 0 {
                u64::MAX
            } else {
                (a as i64).wrapping_div(b as i64) as u64
            }
        }),
        d2("rem.u64", |a, b, _| a.checked_rem(b).unwrap_or(a)),
        r2("min.s32", |a, b, _| (a as i32).min(b as i32) as u32 as u64),
        r2("max.u32", |a, b, _| (a as u32).max(b as u32).into()),
        d2("max.s64", |a, b, _| (a as i64).max(b as i64) as u64),
        h2("min.s16", |a, b, _| (a as i16).min(b as i16) as u16 as u64),
        r1("abs.s32", |a, _, _| (a as i32).wrapping_abs() as u32 as u64),
        r1("neg.s32", |a, _, _| (a as i32).wrapping_neg() as u32 as u64),
        ("neg.s64 %rd9, %rd1;".into(), |a, _, _| a.wrapping_neg()),
        // 128 bits, by the carry.
        (
            "add.cc.u64 %rd8, %rd1, %rd2; addc.u64 %rd9, %rd3, 0;".into(),
            |a, b, c| c.wrapping_add(a.overflowing_add(b).1.into()),
        ),
        (
            "sub.cc.u32 %r8, %r1, %r2; subc.u32 %r9, %r3, 0; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, c| {
                (c as u32)
                    .wrapping_sub((a as u32).overflowing_sub(b as u32).1.into())
                    .into()
            },
        ),
        (
            "add.cc.u32 %r8, %r1, %r2; addc.cc.u32 %r8, %r2, %r3; addc.u64 %rd9, %rd1, 0;".into(),
            |a, b, c| {
                let first = (a as u32).overflowing_add(b as u32).1;
                let sum = u64::from(b as u32) + u64::from(c as u32) + u64::from(first);
                a.wrapping_add(sum >> 32)
            },
        ),
    ];
    proptest!(settings(), |(operands in operands())| check(&cases, &operands));
}

#[test]
fn bits() {
    let cases = [
        r2("and.b32", |a, b, _| (a & b) as u32 as u64),
        d2("or.b64", |a, b, _| a | b),
        h2("xor.b16", |a, b, _| (a ^ b) as u16 as u64),
        r1("not.b32", |a, _, _| !(a as u32) as u64),
        r1("cnot.b32", |a, _, _| u64::from(a as u32 == 0)),
        r2("shl.b32", |a, b, _| {
            u64::from((a as u32).checked_shl(b as u32).unwrap_or(0))
        }),
        r2("shr.u32", |a, b, _| {
            u64::from((a as u32).checked_shr(b as u32).unwrap_or(0))
        }),
        r2("shr.s32", |a, b, _| ((a as i32) >> (b as u32).min(31)) as u32 as u64),
        ("shl.b64 %rd9, %rd1, %r2;".into(), |a, b, _| {
            a.checked_shl(b as u32).unwrap_or(0)
        }),
        ("shr.s64 %rd9, %rd1, %r2;".into(), |a, b, _| {
            ((a as i64) >> (b as u32).min(63)) as u64
        }),
        ("shr.u16 %rs9, %rs1, %r2; cvt.u64.u16 %rd9, %rs9;".into(), |a, b, _| {
            u64::from((a as u16).checked_shr(b as u32).unwrap_or(0))
        }),
        r1("clz.b32", |a, _, _| (a as u32).leading_zeros().into()),
        ("clz.b64 %r9, %rd1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| {
            a.leading_zeros().into()
        }),
        r1("popc.b32", |a, _, _| (a as u32).count_ones().into()),
        ("popc.b64 %r9, %rd1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| {
            a.count_ones().into()
        }),
        r1("brev.b32", |a, _, _| (a as u32).reverse_bits().into()),
        ("brev.b64 %rd9, %rd1;".into(), |a, _, _| a.reverse_bits()),
        r1("bfind.u32", |a, _, _| {
            (a as u32).checked_ilog2().unwrap_or(u32::MAX).into()
        }),
        r1("bfind.s32", |a, _, _| {
            (a as i32 ^ (a as i32 >> 31))
                .cast_unsigned()
                .checked_ilog2()
                .unwrap_or(u32::MAX)
                .into()
        }),
        (
            "bfind.shiftamt.u64 %r9, %rd1; cvt.u64.u32 %rd9, %r9;".into(),
            |a, _, _| a.checked_ilog2().map_or(0xffff_ffff, |n| 63 - u64::from(n)),
        ),
        r3("shf.l.wrap.b32", |a, b, c| {
            (((a as u32 as u64) | (b << 32)) << (c & 31)) >> 32
        }),
        r3("shf.r.wrap.b32", |a, b, c| {
            (((a as u32 as u64) | (b << 32)) >> (c & 31)) as u32 as u64
        }),
        r3("shf.r.clamp.b32", |a, b, c| {
            (((a as u32 as u64) | (b << 32)) >> (c as u32).min(32)) as u32 as u64
        }),
        (
            "lop3.b32 %r9, %r1, %r2, %r3, 0x96; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, c| (a ^ b ^ c) as u32 as u64,
        ),
        (
            "lop3.b32 %r9, %r1, %r2, %r3, 0xca; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, c| ((a & b) | (!a & c)) as u32 as u64,
        ),
        ("bfe.u32 %r9, %r1, 4, 8; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| {
            (a >> 4) & 0xff
        }),
        ("bfe.s32 %r9, %r1, 24, 16; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| {
            ((a as i32) >> 24) as u32 as u64
        }),
        ("bfe.u64 %rd9, %rd1, 60, 8;".into(), |a, _, _| a >> 60),
        (
            "bfi.b32 %r9, %r1, %r2, 8, 12; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, _| ((b & !0xf_ff00) | ((a & 0xfff) << 8)) as u32 as u64,
        ),
        (
            "prmt.b32 %r9, %r1, %r2, 0x5410; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, _| (a & 0xffff) | ((b & 0xffff) << 16),
        ),
        (
            "prmt.b32 %r9, %r1, 0, 0x8888; cvt.u64.u32 %rd9, %r9;".into(),
            |a, _, _| if a & 0x80 == 0 { 0 } else { 0xffff_ffff },
        ),
        (
            "prmt.b32 %r9, %r1, %r2, 0x0123; cvt.u64.u32 %rd9, %r9;".into(),
            |a, _, _| u64::from((a as u32).swap_bytes()),
        ),
        (
            "mov.b64 {%r8, %r9}, %rd1; mov.b64 %rd9, {%r9, %r8};".into(),
            |a, _, _| a.rotate_left(32),
        ),
        ("mov.b64 {_, %r9}, %rd1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| {
            a >> 32
        }),
        ("mov.b32 %r9, {%rs2, %rs1}; cvt.u64.u32 %rd9, %r9;".into(), |a, b, _| {
            (b & 0xffff) | ((a & 0xffff) << 16)
        }),
        (
            "slct.u32.s32 %r9, %r1, %r2, %r3; cvt.u64.u32 %rd9, %r9;".into(),
            |a, b, c| u64::from(if c as i32 >= 0 { a as u32 } else { b as u32 }),
        ),
    ];
    proptest!(settings(), |(operands in operands())| check(&cases, &operands));
}

fn s(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

/// A single as the hardware leaves it: there is one value that is no number.
fn so(x: f32) -> u64 {
    u64::from(if x.is_nan() { 0x7fff_ffff } else { x.to_bits() })
}

fn f2(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    (
        format!("{name} %f9, %f1, %f2; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;"),
        f,
    )
}

fn fd2(name: &str, f: fn(u64, u64, u64) -> u64) -> Case {
    // Which bits a double has that is no number is left open.
    (
        format!(
            "{name} %fd9, %fd1, %fd2; mov.b64 %rd9, %fd9; setp.nan.f64 %p1, %fd9, %fd9; selp.b64 %rd9, 0x7ff8000000000000, %rd9, %p1;"
        ),
        f,
    )
}

fn dout(x: f64) -> u64 {
    if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() }
}

#[test]
fn floats() {
    let cases = [
        f2("add.rn.f32", |a, b, _| so(s(a) + s(b))),
        f2("sub.f32", |a, b, _| so(s(a) - s(b))),
        f2("mul.rn.f32", |a, b, _| so(s(a) * s(b))),
        f2("div.rn.f32", |a, b, _| so(s(a) / s(b))),
        f2("min.f32", |a, b, _| so(s(a).min(s(b)))),
        f2("max.f32", |a, b, _| so(s(a).max(s(b)))),
        ("fma.rn.f32 %f9, %f1, %f2, %f3; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, b, c| so(s(a).mul_add(s(b), s(c)))),
        ("sqrt.rn.f32 %f9, %f1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| so(s(a).sqrt())),
        ("neg.f32 %f9, %f1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| (a as u32 ^ (1 << 31)).into()),
        ("abs.f32 %f9, %f1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| (a as u32 & !(1 << 31)).into()),
        ("rcp.rn.f32 %f9, %f1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| so(1.0 / s(a))),
        f2("copysign.f32", |a, b, _| s(b).copysign(s(a)).to_bits().into()),
        ("add.sat.f32 %f9, %f1, %f2; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, b, _| {
            let sum = s(a) + s(b);
            so(if sum > 0.0 { sum.min(1.0) } else { 0.0 })
        }),
        ("add.ftz.f32 %f9, %f1, %f2; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, b, _| {
            let flush = |x: f32| if x.is_subnormal() { 0.0_f32.copysign(x) } else { x };
            so(flush(flush(s(a)) + flush(s(b))))
        }),
        fd2("add.f64", |a, b, _| dout(d(a) + d(b))),
        fd2("mul.rn.f64", |a, b, _| dout(d(a) * d(b))),
        fd2("div.rn.f64", |a, b, _| dout(d(a) / d(b))),
        ("fma.rn.f64 %fd9, %fd1, %fd2, %fd3; setp.nan.f64 %p1, %fd9, %fd9; mov.b64 %rd9, %fd9; selp.b64 %rd9, 0x7ff8000000000000, %rd9, %p1;".into(), |a, b, c| {
            dout(d(a).mul_add(d(b), d(c)))
        }),
    ];
    proptest!(settings(), |(operands in operands())| {
        // Of two zeros the standard library may give either as the lesser.
        let operands: Vec<[u64; 3]> = operands.into_iter().filter(|[a, b, _]| s(*a) != 0.0 || s(*b) != 0.0).collect();
        check(&cases, &operands);
    });
}

#[test]
fn the_lesser_zero_is_the_negative_one() {
    let zeros = [[0x8000_0000, 0, 0], [0, 0x8000_0000, 0]];
    check(
        &[f2("min.f32", |_, _, _| 0x8000_0000), f2("max.f32", |_, _, _| 0)],
        &zeros,
    );
}

#[test]
fn comparisons() {
    let cases = [
        compares("eq.s32", "%r", |a, b, _| (a as u32 == b as u32).into()),
        compares("ne.b16", "%rs", |a, b, _| (a as u16 != b as u16).into()),
        compares("lt.s32", "%r", |a, b, _| ((a as i32) < b as i32).into()),
        compares("lt.u32", "%r", |a, b, _| ((a as u32) < b as u32).into()),
        compares("hs.u32", "%r", |a, b, _| (a as u32 >= b as u32).into()),
        compares("le.s64", "%rd", |a, b, _| (a as i64 <= b as i64).into()),
        compares("gt.u64", "%rd", |a, b, _| (a > b).into()),
        compares("eq.f32", "%f", |a, b, _| (s(a) == s(b)).into()),
        compares("ne.f32", "%f", |a, b, _| s(a).partial_cmp(&s(b)).is_some_and(Ordering::is_ne).into()),
        compares("lt.f32", "%f", |a, b, _| (s(a) < s(b)).into()),
        compares("ltu.f32", "%f", |a, b, _| s(a).partial_cmp(&s(b)).is_none_or(Ordering::is_lt).into()),
        compares("geu.f64", "%fd", |a, b, _| d(a).partial_cmp(&d(b)).is_none_or(Ordering::is_ge).into()),
        compares("equ.f64", "%fd", |a, b, _| d(a).partial_cmp(&d(b)).is_none_or(Ordering::is_eq).into()),
        compares("neu.f32", "%f", |a, b, _| (s(a) != s(b)).into()),
        compares("num.f32", "%f", |a, b, _| (!s(a).is_nan() && !s(b).is_nan()).into()),
        compares("nan.f64", "%fd", |a, b, _| (d(a).is_nan() || d(b).is_nan()).into()),
        ("setp.lt.u32 %p2, %r2, %r3; setp.eq.and.u32 %p1, %r1, %r2, %p2; selp.u64 %rd9, 1, 0, %p1;".into(), |a, b, c| {
            (a as u32 == b as u32 && (b as u32) < c as u32).into()
        }),
        ("setp.lt.u32 %p2, %r2, %r3; setp.gt.or.s32 %p1|%p3, %r1, %r2, !%p2; selp.u64 %rd8, 2, 0, %p3; selp.u64 %rd9, 1, 0, %p1; or.b64 %rd9, %rd9, %rd8;".into(), |a, b, c| {
            let (holds, other) = (a as i32 > b as i32, (b as u32) >= c as u32);
            u64::from(holds || other) | u64::from(!holds || other) << 1
        }),
        ("setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; xor.pred %p3, %p1, %p2; not.pred %p3, %p3; selp.u64 %rd9, 1, 0, %p3;".into(), |a, b, _| {
            ((a as u32 == 0) == (b as u32 == 0)).into()
        }),
        ("testp.finite.f32 %p1, %f1; selp.u64 %rd9, 1, 0, %p1;".into(), |a, _, _| s(a).is_finite().into()),
        ("testp.notanumber.f64 %p1, %fd1; selp.u64 %rd9, 1, 0, %p1;".into(), |a, _, _| d(a).is_nan().into()),
        ("setp.lt.u32 %p1, %r1, %r2; mov.u64 %rd9, 7; @%p1 mov.u64 %rd9, 8; @!%p1 add.s64 %rd9, %rd9, 10;".into(), |a, b, _| {
            if (a as u32) < b as u32 { 8 } else { 17 }
        }),
    ];
    proptest!(settings(), |(operands in operands())| check(&cases, &operands));
}

#[test]
fn conversions() {
    let cases = [
        ("cvt.s64.s32 %rd9, %r1;".into(), (|a, _, _| a as i32 as i64 as u64) as fn(u64, u64, u64) -> u64),
        ("cvt.u64.u32 %rd9, %r1;".into(), |a, _, _| a as u32 as u64),
        ("cvt.s32.s16 %r9, %rs1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| a as i16 as i32 as u32 as u64),
        ("cvt.s64.s8 %rd9, %rs1;".into(), |a, _, _| a as i8 as i64 as u64),
        ("cvt.u64.u8 %rd9, %r1;".into(), |a, _, _| a as u8 as u64),
        ("cvt.sat.u16.s32 %rs9, %r1; cvt.u64.u16 %rd9, %rs9;".into(), |a, _, _| (a as i32).clamp(0, 0xffff) as u64),
        ("cvt.sat.s32.s64 %r9, %rd1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| (a as i64).clamp(i32::MIN.into(), i32::MAX.into()) as u32 as u64),
        ("cvt.rn.f32.u32 %f9, %r1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| (a as u32 as f32).to_bits().into()),
        ("cvt.rn.f32.s64 %f9, %rd1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| (a as i64 as f32).to_bits().into()),
        ("cvt.rn.f64.u64 %fd9, %rd1; mov.b64 %rd9, %fd9;".into(), |a, _, _| (a as f64).to_bits()),
        ("cvt.rn.f64.s32 %fd9, %r1; mov.b64 %rd9, %fd9;".into(), |a, _, _| f64::from(a as i32).to_bits()),
        ("cvt.rzi.s32.f32 %r9, %f1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| s(a) as i32 as u32 as u64),
        ("cvt.rzi.u32.f32 %r9, %f1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| s(a) as u32 as u64),
        ("cvt.rni.s32.f32 %r9, %f1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| s(a).round_ties_even() as i32 as u32 as u64),
        ("cvt.rmi.s32.f32 %r9, %f1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| s(a).floor() as i32 as u32 as u64),
        ("cvt.rpi.s64.f64 %rd9, %fd1;".into(), |a, _, _| if d(a).is_nan() { 1 << 63 } else { d(a).ceil() as i64 as u64 }),
        ("cvt.rzi.u64.f64 %rd9, %fd1;".into(), |a, _, _| if d(a).is_nan() { 1 << 63 } else { d(a) as u64 }),
        ("cvt.rzi.s32.f64 %r9, %fd1; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| if d(a).is_nan() { 1 << 31 } else { d(a) as i32 as u32 as u64 }),
        ("cvt.rni.f32.f32 %f9, %f1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| so(s(a).round_ties_even())),
        ("cvt.rn.f32.f64 %f9, %fd1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;".into(), |a, _, _| so(d(a) as f32)),
        ("cvt.f64.f32 %fd9, %f1; mov.b64 %rd9, %fd9; setp.nan.f64 %p1, %fd9, %fd9; selp.b64 %rd9, 0x7ff8000000000000, %rd9, %p1;".into(), |a, _, _| {
            dout(f64::from(s(a)))
        }),
        // Rounded down or up, the single is never on the wrong side.
        ("cvt.rm.f32.f64 %f8, %fd1; cvt.rp.f32.f64 %f9, %fd1; cvt.f64.f32 %fd8, %f8; cvt.f64.f32 %fd9, %f9;
          setp.leu.f64 %p1, %fd8, %fd1; setp.geu.and.f64 %p1, %fd9, %fd1, %p1; selp.u64 %rd9, 1, 0, %p1;".into(), |_, _, _| 1),
        ("cvt.rz.f32.u64 %f8, %rd1; cvt.rp.f32.u64 %f9, %rd1; sub.f32 %f9, %f9, %f8; setp.ge.f32 %p1, %f9, 0f00000000; selp.u64 %rd9, 1, 0, %p1;".into(), |_, _, _| 1),
    ];
    proptest!(settings(), |(operands in operands())| check(&cases, &operands));
}

#[test]
fn approximations_are_close() {
    type Exact = fn(f32) -> f32;
    let cases: [(&str, Exact); 6] = [
        ("ex2.approx.f32", f32::exp2),
        ("lg2.approx.f32", f32::log2),
        ("sin.approx.f32", f32::sin),
        ("cos.approx.f32", f32::cos),
        ("rsqrt.approx.f32", |x| 1.0 / x.sqrt()),
        ("tanh.approx.f32", f32::tanh),
    ];
    let operands: Vec<[u64; 3]> = (1..65_u16)
        .map(|i| [(f32::from(i) / 16.0).to_bits().into(), 0, 0])
        .collect();
    for (name, f) in cases {
        let sim = Sim::new(
            "",
            &kernel(&format!("{name} %f9, %f1; mov.b32 %r9, %f9; cvt.u64.u32 %rd9, %r9;")),
        );
        let (input, output) = (sim.upload(&operands.concat()), sim.upload(&[0_u64; 64]));
        let mut parameters = Parameters::default();
        parameters.u64(input).u64(output);
        sim.run("compute", Grid::new(1, 64), &parameters).unwrap();
        for (result, operand) in sim.download::<u64>(output, 64).into_iter().zip(&operands) {
            let wanted = f(s(operand[0]));
            assert!(
                (s(result) - wanted).abs() <= 1e-5 * wanted.abs().max(1.0),
                "{name}: {} instead of {wanted}",
                s(result)
            );
        }
    }
}
