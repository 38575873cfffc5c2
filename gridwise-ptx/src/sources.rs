//! What the PTX was compiled from, as cargo writes it down.

use std::path::PathBuf;

/// The files behind the colons of a file in the format of make, as in `target: first\ file second`.
pub(crate) fn in_dep_info(text: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in text.lines() {
        let Some((_, dependencies)) = line.split_once(": ") else {
            continue;
        };
        let mut file = String::new();
        let mut characters = dependencies.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '\\' if characters.peek() == Some(&' ') => file.extend(characters.next()),
                ' ' if !file.is_empty() => files.push(std::mem::take(&mut file).into()),
                ' ' => {}
                other => file.push(other),
            }
        }
        if !file.is_empty() {
            files.push(file.into());
        }
    }
    files
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_with_spaces_are_one_name() {
        let text = "/t/kernels.so: /a/src/lib.rs /a/with\\ space/b.rs\n\n/a/src/lib.rs:\n";
        let expected: [PathBuf; 2] = ["/a/src/lib.rs".into(), "/a/with space/b.rs".into()];
        assert_eq!(in_dep_info(text), expected);
    }
}
