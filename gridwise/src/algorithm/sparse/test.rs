use super::*;
use crate::host::device::Device;

fn dense(rows: usize, columns: usize, values: &[f64]) -> Csr {
    let entries = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
    let entries = entries.map(|(at, &value)| ((at / columns) as u32, (at % columns) as u32, value));
    Csr::from_sorted_entries(rows, columns, entries).unwrap()
}

#[test]
fn rows_without_entries_keep_their_place() {
    let matrix = Csr::from_sorted_entries(5, 4, [(1, 0, 1.0), (1, 3, 2.0), (3, 1, 3.0)]).unwrap();
    assert_eq!(matrix.row_offsets(), [0, 0, 2, 2, 3, 3]);
    assert_eq!(matrix.column_indices(), [0, 3, 1]);
    assert_eq!(matrix.values(), [1.0, 2.0, 3.0]);
    assert_eq!((matrix.rows(), matrix.columns(), matrix.nonzeros()), (5, 4, 3));
}

#[test]
fn a_matrix_without_rows_or_entries_is_one() {
    assert_eq!(Csr::from_sorted_entries(0, 0, []).unwrap().row_offsets(), [0]);
    assert_eq!(Csr::from_sorted_entries(2, 0, []).unwrap().row_offsets(), [0, 0, 0]);
}

#[test]
fn entries_out_of_range_order_or_place_are_refused() {
    let of = |entries: &[(u32, u32, f64)]| Csr::from_sorted_entries(2, 3, entries.iter().copied()).unwrap_err();
    assert_eq!(
        of(&[(0, 0, 1.0), (2, 0, 1.0)]),
        CsrError::Row {
            index: 1,
            row: 2,
            rows: 2
        }
    );
    assert_eq!(
        of(&[(0, 3, 1.0)]),
        CsrError::Column {
            index: 0,
            column: 3,
            columns: 3
        }
    );
    assert_eq!(
        of(&[(1, 0, 1.0), (0, 2, 1.0)]),
        CsrError::Order {
            index: 1,
            row: 0,
            column: 2
        }
    );
    assert_eq!(
        of(&[(1, 2, 1.0), (1, 1, 1.0)]),
        CsrError::Order {
            index: 1,
            row: 1,
            column: 1
        }
    );
    assert_eq!(
        of(&[(1, 1, 1.0), (1, 1, 1.0)]),
        CsrError::Duplicate {
            index: 1,
            row: 1,
            column: 1
        }
    );
}

#[test]
fn a_size_that_no_memory_holds_is_an_error() {
    let refused = Csr::from_sorted_entries(usize::MAX, 1, []);
    assert_eq!(
        refused,
        Err(CsrError::Memory {
            rows: usize::MAX,
            entries: 0
        })
    );
    let refused = Csr::from_sorted_entries(usize::MAX / 8, 1, []);
    assert!(matches!(refused, Err(CsrError::Memory { .. })));
}

#[test]
fn the_diagonal_is_zero_where_there_is_no_entry() {
    assert_eq!(
        dense(3, 3, &[1.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 0.0, 5.0]).diagonal(),
        [1.0, 0.0, 5.0]
    );
    assert_eq!(dense(2, 3, &[1.0, 2.0, 0.0, 3.0, 7.0, 4.0]).diagonal(), [1.0, 7.0]);
    assert_eq!(dense(3, 1, &[1.0, 2.0, 0.0]).diagonal(), [1.0]);
}

#[test]
fn symmetric_is_exactly_equal_to_the_transpose() {
    let symmetric = [1.0, 2.0, 0.0, 2.0, 0.0, 4.0, 0.0, 4.0, 5.0];
    assert!(dense(3, 3, &symmetric).is_symmetric());
    for at in [1, 2, 3, 5, 6, 7] {
        let mut other = symmetric;
        other[at] = if other[at] == 0.0 { 1.0 } else { 0.0 };
        assert!(!dense(3, 3, &other).is_symmetric(), "pattern at {at}");
        other[at] = f64::from_bits(symmetric[at].to_bits() + 1);
        assert!(!dense(3, 3, &other).is_symmetric(), "value at {at}");
    }
    assert!(!dense(2, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).is_symmetric());
    // The mirror image of the last entry would lie in a row that has ended.
    assert!(!dense(2, 2, &[0.0, 0.0, 1.0, 0.0]).is_symmetric());
}

#[test]
fn the_product_of_an_empty_row_is_a_positive_zero() {
    let matrix = dense(2, 2, &[0.0, 0.0, 0.0, 1.0]);
    let mut y = [1.0; 2];
    matrix.multiply(&[-1.0, -0.0], &mut y);
    assert_eq!(y.map(f64::to_bits), [0; 2]);
}

#[test]
fn vectors_that_do_not_fit_a_matrix_are_refused() {
    let queue = Device::open("cpu:blocks=1").unwrap().queue();
    let mut matrix = DeviceCsr::upload(&queue, &dense(1, 2, &[1.0, 2.0])).unwrap();
    assert_eq!((matrix.rows(), matrix.columns()), (1, 2));
    let error = matrix.multiply(&queue, &[1.0]).unwrap_err();
    assert!(
        matches!(error, ProductError::VectorLength { len: 1, columns: 2 }),
        "{error}"
    );
    let (x, mut y) = (queue.upload(&[1.0, 1.0]).unwrap(), queue.upload(&[0.0, 0.0]).unwrap());
    let error = matrix.multiply_into(&queue, x.span(), y.span_mut()).unwrap_err();
    assert!(
        matches!(error, ProductError::ProductLength { len: 2, rows: 1 }),
        "{error}"
    );
}
