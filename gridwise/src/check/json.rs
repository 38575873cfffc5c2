//! Findings as JSON. Small enough to write here.

use std::fmt;

use super::{
    Shape,
    finding::{Deed, Finding, Place},
};

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Float(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(crate) fn text(text: impl ToString) -> Self {
        Self::Text(text.to_string())
    }

    pub(crate) fn number(number: u64) -> Self {
        Self::Number(number)
    }

    pub(crate) fn object(fields: impl IntoIterator<Item = (&'static str, Json)>) -> Self {
        Self::Object(fields.into_iter().collect())
    }

    fn optional(text: Option<impl ToString>) -> Self {
        text.map_or(Self::Null, Self::text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Float(value) if value.is_finite() => write!(f, "{value}"),
            Self::Float(_) => f.write_str("null"),
            Self::Text(text) => write_text(f, text),
            Self::Array(values) => {
                f.write_str("[")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    write!(f, "{}\"{name}\":{value}", if at > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            control if (control as u32) < 0x20 => write!(f, "\\u{:04x}", control as u32)?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

fn place(place: &Place) -> Json {
    let seen = place.deed != Deed::LeftAtOnce;
    let at = |value| if seen { value } else { Json::Null };
    Json::object([
        ("file", at(Json::text(place.location.file()))),
        ("line", at(Json::number(place.location.line().into()))),
        ("column", at(Json::number(place.location.column().into()))),
        ("block", Json::number(place.block as u64)),
        ("thread", Json::number(place.thread as u64)),
        ("text", Json::text(place)),
    ])
}

pub(super) fn shape(shape: Shape) -> Json {
    Json::object([
        ("blocks", Json::number(shape.blocks as u64)),
        ("threads", Json::number(shape.threads as u64)),
    ])
}

impl Finding {
    pub(crate) fn json(&self) -> Json {
        Json::object([
            ("kind", Json::text(self.kind.name())),
            ("title", Json::text(self.kind)),
            ("kernel", Json::text(self.kernel)),
            ("grid", shape(self.grid)),
            ("first", place(&self.first)),
            ("second", self.second.as_ref().map_or(Json::Null, place)),
            ("memory", Json::optional(self.memory)),
            ("missing", Json::optional(self.missing)),
            ("note", Json::optional(self.note.as_ref())),
            ("threads", Json::optional(self.hang.as_ref())),
            ("replay", Json::text(&self.replay)),
        ])
    }

    /// The finding as JSON.
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }
}
