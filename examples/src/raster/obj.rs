//! Meshes in Wavefront OBJ files.
//!
//! What is read: vertices (`v`, of which colours and weights are left out) and faces (`f`) of three corners or more, cut into
//! triangles from the first corner. A corner is a vertex, by number from 1, or from the end by a negative one; texture
//! coordinates and normals may follow it, and are left out: `7`, `7/2`, `7//3`, `7/2/3`. Other lines are skipped.

use std::{fs, io, path::Path, path::PathBuf};

use thiserror::Error;

use super::mesh::Mesh;

/// Why a file was refused.
#[derive(Debug, Error)]
pub enum ObjError {
    /// It cannot be read.
    #[error("{}: cannot read the file: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line breaks a rule of the format.
    #[error("{}:{line}: {fault}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The rule.
        fault: Fault,
    },
}

/// What is wrong with a line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// A line that begins as one of a vertex or a face is no text.
    #[error("expected text in UTF-8")]
    NotText,
    /// A vertex without three coordinates.
    #[error("expected 3 coordinates of a vertex, found {found}")]
    TooFewCoordinates {
        /// How many there are.
        found: usize,
    },
    /// A coordinate that is not a finite number.
    #[error("expected a coordinate, found {found:?}")]
    Coordinate {
        /// What there is.
        found: String,
    },
    /// A face of one or two corners, or none.
    #[error("expected 3 corners of a face or more, found {found}")]
    TooFewCorners {
        /// How many there are.
        found: usize,
    },
    /// A corner of another form than described [above](self).
    #[error("expected a corner like 7, 7/2, 7//3 or 7/2/3, found {found:?}")]
    Corner {
        /// What there is.
        found: String,
    },
    /// A vertex that is not there, or not yet.
    #[error(
        "corner {found:?} is a vertex that is not above: there are {vertices}, counted from 1, or from -1 backwards"
    )]
    NoSuchVertex {
        /// What there is.
        found: String,
        /// Vertices so far.
        vertices: usize,
    },
}

/// Reads the mesh in the file at `path`.
///
/// # Errors
/// If it cannot be read, or a vertex or a face is malformed.
pub fn read(path: &Path) -> Result<Mesh, ObjError> {
    let bytes = fs::read(path).map_err(|source| ObjError::Read {
        file: path.to_owned(),
        source,
    })?;
    parse(&bytes, path)
}

/// Reads the mesh in `bytes`, the contents of a file called `file` in messages.
///
/// # Errors
/// If a vertex or a face is malformed.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Mesh, ObjError> {
    let mut mesh = Mesh::default();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        read_line(line, &mut mesh).map_err(|fault| ObjError::Malformed {
            file: file.to_owned(),
            line: index + 1,
            fault,
        })?;
    }
    Ok(mesh)
}

fn read_line(line: &[u8], mesh: &mut Mesh) -> Result<(), Fault> {
    let line = line.trim_ascii();
    let keyword = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    if keyword != b"v" && keyword != b"f" {
        // Comments and names may hold any bytes.
        return Ok(());
    }
    let text = str::from_utf8(&line[1..]).map_err(|_| Fault::NotText)?;
    let words = text.split_ascii_whitespace();
    if keyword == b"v" {
        mesh.positions.push(vertex(words)?);
        return Ok(());
    }
    let vertices = mesh.positions.len();
    let corners: Vec<u32> = words.map(|word| corner(word, vertices)).collect::<Result<_, _>>()?;
    let [first, rest @ ..] = &corners[..] else {
        return Err(Fault::TooFewCorners { found: 0 });
    };
    if rest.len() < 2 {
        return Err(Fault::TooFewCorners { found: corners.len() });
    }
    mesh.triangles
        .extend(rest.array_windows().map(|&[a, b]| [*first, a, b]));
    Ok(())
}

fn vertex<'a>(words: impl Iterator<Item = &'a str>) -> Result<[f32; 3], Fault> {
    let mut position = [0.0; 3];
    let mut found = 0;
    for (place, word) in position.iter_mut().zip(words) {
        *place = word
            .parse()
            .ok()
            .filter(|number: &f32| number.is_finite())
            .ok_or_else(|| Fault::Coordinate { found: word.to_owned() })?;
        found += 1;
    }
    if found == 3 {
        Ok(position)
    } else {
        Err(Fault::TooFewCoordinates { found })
    }
}

/// The vertex of a corner, from 0.
fn corner(word: &str, vertices: usize) -> Result<u32, Fault> {
    let malformed = || Fault::Corner { found: word.to_owned() };
    let mut parts = word.split('/');
    let number: i64 = parts.next().and_then(|part| part.parse().ok()).ok_or_else(malformed)?;
    let rest: Vec<&str> = parts.collect();
    let is_number = |part: &str| part.parse::<i64>().is_ok();
    let well_formed = match rest[..] {
        [] => true,
        [texture] => is_number(texture),
        [texture, normal] => (texture.is_empty() || is_number(texture)) && is_number(normal),
        _ => false,
    };
    if !well_formed {
        return Err(malformed());
    }
    let from_start = if number < 0 {
        vertices as i64 + number
    } else {
        number - 1
    };
    match usize::try_from(from_start) {
        Ok(index) if index < vertices && u32::try_from(index).is_ok() => Ok(index as u32),
        _ => Err(Fault::NoSuchVertex {
            found: word.to_owned(),
            vertices,
        }),
    }
}
