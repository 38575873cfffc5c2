//! `gridwise gallery`: known bugs, and what the checking device says of each.

use std::{env, panic};

use gridwise::check::{
    self, Report,
    gallery::{EXHIBITS, Exhibit},
};
use serde::Serialize;

use crate::{arguments::GalleryArguments, console, failure::Failure};

/// Shows the gallery.
///
/// # Errors
///
/// [`Failure`] where there is no such exhibit, a bug is not found, a twin is not silent, or standard output takes no more.
pub fn run(arguments: &GalleryArguments) -> Result<(), Failure> {
    let exhibits = chosen(&arguments.names)?;
    if arguments.list {
        return console::print(list(&exhibits));
    }
    // A panic would say nothing, because exhibits panic too.
    if let Ok(token) = env::var(check::REPLAY_VARIABLE)
        && !(token.is_empty() || check::is_replay_token(&token))
    {
        return Err(Failure::Replay { token });
    }
    let results = quietly(|| exhibits.iter().map(|exhibit| Shown::of(exhibit)).collect::<Vec<_>>());
    if arguments.json {
        console::print_json(&results)?;
    } else {
        // Whole reports of what was asked for by name, a line each of all.
        let whole = !arguments.names.is_empty();
        for shown in &results {
            console::print(if whole { shown.whole() } else { shown.line() })?;
        }
    }
    let missed = results.iter().filter(|shown| !shown.found).count();
    let loud = results.iter().filter(|shown| !shown.twin_silent).count();
    if missed + loud > 0 {
        return Err(Failure::Gallery { missed, loud });
    }
    Ok(())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Exhibit>, Failure> {
    if names.is_empty() {
        return Ok(EXHIBITS.iter().collect());
    }
    let find = |name: &String| {
        let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name == name);
        exhibit.ok_or_else(|| Failure::NoExhibit { name: name.clone() })
    };
    names.iter().map(find).collect()
}

fn list(exhibits: &[&Exhibit]) -> String {
    let line = |exhibit: &&Exhibit| format!("{:6} {}\n       {}", exhibit.class, exhibit.name, exhibit.about);
    exhibits.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Some exhibits panic, which is what they are there for: the reports say so.
fn quietly<R>(work: impl FnOnce() -> R) -> R {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let result = work();
    panic::set_hook(hook);
    result
}

/// What was seen of an exhibit.
#[derive(Serialize)]
struct Shown {
    name: &'static str,
    class: &'static str,
    about: &'static str,
    found: bool,
    schedules: usize,
    finding: serde_json::Value,
    twin_silent: bool,
    #[serde(skip)]
    report: Report,
}

impl Shown {
    fn of(exhibit: &Exhibit) -> Self {
        let report = exhibit.find();
        let twin = exhibit.check_twin();
        let named = report
            .findings
            .iter()
            .find(|finding| exhibit.kinds.contains(&finding.kind));
        let finding = named.and_then(|finding| serde_json::from_str(&finding.to_json()).ok());
        Self {
            name: exhibit.name,
            class: exhibit.class,
            about: exhibit.about,
            found: exhibit.is_found(&report),
            schedules: report.schedules,
            finding: finding.unwrap_or_default(),
            twin_silent: twin.is_clean(),
            report,
        }
    }

    fn line(&self) -> String {
        let verdict = match (self.found, self.report.findings.first()) {
            (true, Some(finding)) => format!("{}, schedule {}", finding.kind, self.schedules),
            _ => "NOT FOUND".to_owned(),
        };
        let twin = if self.twin_silent {
            ""
        } else {
            "; THE TWIN IS NOT SILENT"
        };
        format!("{:6} {:32} {verdict}{twin}", self.class, self.name)
    }

    fn whole(&self) -> String {
        let twin = if self.twin_silent { "silent" } else { "NOT SILENT" };
        format!(
            "{} ({}): {}\n{}\nthe twin is {twin}\n",
            self.name, self.class, self.about, self.report
        )
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn an_exhibit_that_is_not_there_is_refused() {
        assert!(matches!(
            chosen(&["nothing".to_owned()]),
            Err(Failure::NoExhibit { .. })
        ));
        assert_eq!(chosen(&[]).unwrap().len(), EXHIBITS.len());
    }

    #[test]
    fn a_line_and_a_report_say_what_was_found() {
        let shown = Shown::of(chosen(&["relaxed_flag".to_owned()]).unwrap()[0]);
        assert!(shown.found && shown.twin_silent);
        assert!(
            shown.line().contains("data race in device memory, schedule 1"),
            "{}",
            shown.line()
        );
        let whole = shown.whole();
        assert!(
            whole.contains("relaxed_flag.rs") && whole.contains("the twin is silent"),
            "{whole}"
        );
        let json = serde_json::to_value(&shown).unwrap();
        assert_eq!(json["finding"]["kind"], "global_race");
        assert_eq!(json["twin_silent"], true);
        assert_eq!(json["schedules"], 1);
    }

    #[test]
    fn a_list_has_every_name() {
        let all: Vec<_> = EXHIBITS.iter().collect();
        let text = list(&all);
        assert!(all.iter().all(|exhibit| text.contains(exhibit.name)));
    }
}
