use super::{Initial, Instruction, Operand, Space, Statement, parse};

/// The instructions of a kernel with this body.
fn instructions(body: &str) -> Vec<Instruction> {
    let text = format!(".version 7.8\n.target sm_70\n.address_size 64\n.entry k() {{\n{body}\n}}");
    let source = parse(&text).unwrap();
    let statements = source.functions.into_iter().flat_map(|f| f.body.unwrap());
    let instruction = |s| {
        if let Statement::Instruction(i) = s {
            Some(i)
        } else {
            None
        }
    };
    statements.filter_map(instruction).collect()
}

fn operands(text: &str) -> Vec<Operand> {
    instructions(&format!("op {text};")).remove(0).operands
}

#[test]
fn numbers_have_all_their_forms() {
    let expected = [
        Operand::Int(-1),
        Operand::Int(0x1f),
        Operand::Int(8),
        Operand::Int(5),
        Operand::Int(1 << 63),
        Operand::Single(0x3f80_0000),
        Operand::Double(0x3ff0_0000_0000_0000),
        Operand::Decimal(-1.5),
    ];
    assert_eq!(
        operands("-1, 0x1F, 010, 0b101, 9223372036854775808U, 0f3F800000, 0d3FF0000000000000, -1.5"),
        expected
    );
}

#[test]
fn operands_have_all_their_forms() {
    let name = |n: &str| Operand::Name(n.into());
    let address = |n: &str, offset| Operand::Address(Box::new(name(n)), offset);
    let expected = [
        name("%tid.x"),
        Operand::Vector(vec![name("_"), name("%r1")]),
        address("a", 0),
        address("a", 8),
        address("a", -8),
        address("a", -8),
        Operand::Pair("%p1".into(), "%p2".into()),
        Operand::Not("%p1".into()),
        Operand::List(vec![]),
    ];
    assert_eq!(
        operands("%tid.x, {_, %r1}, [a], [a+8], [a+-8], [a-8], %p1|%p2, !%p1, ()"),
        expected
    );
}

#[test]
fn lines_are_counted_through_comments_and_places_in_the_source() {
    let found = instructions(
        "// op;\n/* op;\nop; */ one;\n.loc 1 2 3\n$L: @!%p1 two.b32 1; three;\n.pragma \"nounroll\";\nfour;",
    );
    let lines: Vec<(String, u32)> = found.iter().map(|i| (i.full_name(), i.line)).collect();
    let expected = [("one", 7), ("two.b32", 9), ("three", 9), ("four", 11)].map(|(n, l)| (n.to_owned(), l));
    assert_eq!(lines, expected);
    assert_eq!(found[1].guard, Some((true, "%p1".to_owned())));
}

#[test]
fn variables_have_sizes_alignments_and_initial_values() {
    let source = parse(
        ".visible .global .align 16 .b8 a[5] = {1, 2};\n.const .f32 b = 0f3F800000;\n.extern .shared .align 16 .b8 c[];\n.global .u64 d[] = {a, generic(a)+8};",
    )
    .unwrap();
    let shapes: Vec<_> = source
        .variables
        .iter()
        .map(|v| (v.name.as_str(), v.space, v.align, v.size))
        .collect();
    let expected = [
        ("a", Space::Global, 16, 5),
        ("b", Space::Const, 4, 4),
        ("c", Space::Shared, 16, 0),
        ("d", Space::Global, 8, 16),
    ];
    assert_eq!(shapes, expected);
    assert_eq!(source.variables[0].initial, [Initial::Bits(1), Initial::Bits(2)]);
    assert_eq!(
        source.variables[3].initial,
        [Initial::Address("a".into(), 0), Initial::Address("a".into(), 8)]
    );
}

#[test]
fn what_is_not_ptx_is_refused_with_its_line() {
    let refusal = |text: &str| parse(text).unwrap_err();
    assert_eq!(refusal(".version 7.8\n.frobnicate").line, 2);
    assert_eq!(refusal(".address_size 32").line, 1);
    assert_eq!(refusal(".entry k() {\nadd.u32 a b;\n}").line, 2);
    assert!(refusal(".entry k() { ret; ").message.contains("does not end"));
    assert!(refusal("/* never closed").message.contains("does not end"));
    assert!(refusal(".global .align 3 .b8 a[4];").message.contains("power of two"));
    assert!(refusal(".global .b8 a[1] = {1, 2};").message.contains("more values"));
}
