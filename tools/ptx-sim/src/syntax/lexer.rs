//! Text to words and signs.

use super::LoadError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Names with their dots, directives, special registers, numbers.
    Word(String),
    /// A quoted text.
    Text,
    /// One character.
    Sign(char),
}

pub(super) type Tokens = Vec<(Token, u32)>;

pub(super) fn tokens(text: &str) -> Result<Tokens, LoadError> {
    let mut out = Vec::new();
    let mut in_comment = false;
    for (index, line) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let line = strip_comments(line, &mut in_comment);
        // Places in the source: to the end of their line, without a semicolon.
        if matches!(line.split_whitespace().next(), Some(".loc" | ".file")) {
            continue;
        }
        words(&line, number, &mut out)?;
    }
    if in_comment {
        return Err(LoadError::new(0, "a comment that does not end"));
    }
    Ok(out)
}

fn strip_comments(line: &str, in_comment: &mut bool) -> String {
    let mut out = String::new();
    let mut rest = line;
    loop {
        if *in_comment {
            let Some(end) = rest.find("*/") else { return out };
            *in_comment = false;
            out.push(' ');
            rest = &rest[end + 2..];
            continue;
        }
        let (line_comment, block_comment) = (rest.find("//"), rest.find("/*"));
        match (line_comment, block_comment) {
            (Some(a), b) if b.is_none_or(|b| a < b) => return out + &rest[..a],
            (_, Some(b)) => {
                out.push_str(&rest[..b]);
                rest = &rest[b + 2..];
                *in_comment = true;
            }
            _ => return out + rest,
        }
    }
}

fn words(line: &str, number: u32, out: &mut Tokens) -> Result<(), LoadError> {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_whitespace() || byte == 0 {
            at += 1;
        } else if is_word(byte) {
            let start = at;
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            out.push((Token::Word(line[start..at].to_owned()), number));
        } else if byte == b'"' {
            let Some(length) = line[at + 1..].find('"') else {
                return Err(LoadError::new(number, "a text that does not end"));
            };
            at += length + 2;
            out.push((Token::Text, number));
        } else if b",;:{}[]()<>+-!=@|~".contains(&byte) {
            out.push((Token::Sign(char::from(byte)), number));
            at += 1;
        } else {
            return Err(LoadError::new(
                number,
                format!("unexpected character {:?}", line[at..].chars().next().unwrap_or(' ')),
            ));
        }
    }
    Ok(())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$%.".contains(&byte)
}
