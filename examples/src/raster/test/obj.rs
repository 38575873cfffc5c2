//! What OBJ files are read, and what is said of others.

use std::{env, path::Path, path::PathBuf};

use crate::raster::obj::{Fault, ObjError, parse, read};

fn fault(text: &[u8]) -> (usize, Fault) {
    match parse(text, Path::new("mesh.obj")) {
        Err(ObjError::Malformed { line, fault, .. }) => (line, fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn corners_may_have_texture_coordinates_and_normals() {
    let text =
        b"# a comment \xff\no thing\nv 0 0 0\r\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5\nv 0 1e0 -0.5\nvt 0 0\nvn 0 0 1\n\
        f 1 2/1 3/1/1 4//1\nf\t-4 -3 -2\ns off\n";
    let mesh = parse(text, Path::new("mesh.obj")).unwrap();
    assert_eq!(mesh.positions[2..], [[1.0, 1.0, 0.0], [0.0, 1.0, -0.5]]);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
}

#[test]
fn negative_numbers_count_from_the_vertices_so_far() {
    let text = b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf -1 -2 -3\nv 3 0 0\nf -1 -2 -3\n";
    let mesh = parse(text, Path::new("mesh.obj")).unwrap();
    assert_eq!(mesh.triangles, [[2, 1, 0], [3, 2, 1]]);
}

#[test]
fn a_file_without_faces_is_an_empty_mesh() {
    let mesh = parse(b"", Path::new("mesh.obj")).unwrap();
    assert!(mesh.positions.is_empty() && mesh.triangles.is_empty());
}

#[test]
fn what_is_malformed_is_named_with_its_line() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let with = |line: &str| fault(format!("{triangle}{line}\n").as_bytes());
    assert_eq!(with("v 1 2"), (4, Fault::TooFewCoordinates { found: 2 }));
    for word in ["x", "nan", "1e39", "1,5"] {
        let found = word.to_owned();
        assert_eq!(with(&format!("v 1 {word} 3")), (4, Fault::Coordinate { found }));
    }
    assert_eq!(with("f"), (4, Fault::TooFewCorners { found: 0 }));
    assert_eq!(with("f 1 2"), (4, Fault::TooFewCorners { found: 2 }));
    for word in ["x", "1/", "1/x", "1/1/1/1", "/1", "1//", "1.5", "\\"] {
        let found = word.to_owned();
        assert_eq!(with(&format!("f 1 2 {word}")), (4, Fault::Corner { found }));
    }
    for word in ["0", "4", "-4", "9999999999", "-9223372036854775808"] {
        let (found, vertices) = (word.to_owned(), 3);
        assert_eq!(
            with(&format!("f 1 2 {word}")),
            (4, Fault::NoSuchVertex { found, vertices })
        );
    }
    assert_eq!(fault(b"v 0 0 0\nv \xff 0 0"), (2, Fault::NotText));
    let error = parse(b"v 0 0 0\nf 1 1 2\n", Path::new("mesh.obj")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mesh.obj:2: corner \"2\" is a vertex that is not above: there are 1, counted from 1, or from -1 backwards"
    );
    let error = read(Path::new("no/such/mesh.obj")).unwrap_err().to_string();
    assert!(error.starts_with("no/such/mesh.obj: cannot read the file: "), "{error}");
}

#[test]
fn meshes_from_public_collections_are_read() {
    let folder = env::var_os("GRIDWISE_SHARED_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    for (name, vertices, triangles) in [("teapot.obj", 3644, 6320), ("cow.obj", 2903, 5804)] {
        let path = folder.join("meshes").join(name);
        if path.exists() {
            let mesh = read(&path).unwrap();
            assert_eq!(
                (mesh.positions.len(), mesh.triangles.len()),
                (vertices, triangles),
                "{name}"
            );
        }
    }
}
