//! The score of a primitive: every mutant of its source is found on this device, but for those that are listed as equivalent.
//!
//! A subject is one or more files of the library, and scenarios that use it. Sites are found by running the sound scenarios;
//! a mutant is tried in those that reach its site.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

use crate::{
    check::Report,
    kernel::mutant::{self, Mutant, Site},
};

/// A primitive, and how it is put to the test.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// Its sources, in `src`.
    pub(crate) sources: &'static [&'static str],
    pub(crate) scenarios: &'static [Scenario],
    /// Parts of lines that synchronise under another line: that of their caller.
    pub(crate) elsewhere: &'static [&'static str],
    /// Parts of lines with a relaxed read-modify-write of whose result nobody makes use: see [`mutant::with`].
    pub(crate) unused: &'static [&'static str],
    pub(crate) equivalent: &'static [Equivalent],
}

/// A name, and an exploration that is silent if the primitive is sound.
pub(crate) type Scenario = (&'static str, fn() -> Report);

/// Mutants that no order of events tells from the original.
pub(crate) struct Equivalent {
    /// A part of the line.
    pub(crate) line: &'static str,
    /// What is taken away, as printed.
    pub(crate) changes: &'static [&'static str],
    pub(crate) because: &'static str,
}

impl Equivalent {
    fn lists(&self, line: &str, change: &str) -> bool {
        line.contains(self.line) && self.changes.contains(&change)
    }
}

/// Parts of lines that synchronise.
const SIGNS: [&str; 8] = [
    "Ordering::Relaxed",
    "Ordering::Acquire",
    "Ordering::Release",
    "Ordering::AcqRel",
    "Ordering::SeqCst",
    ".block_barrier(",
    ".sync_block()",
    "hardware.warp_shuffle",
];

/// Ends a scenario whose results are wrong: a panic, but without a word on standard error.
pub(crate) fn wrong(what: &str) -> ! {
    std::panic::resume_unwind(Box::new(format!("{what} are wrong")))
}

/// An operator of scenarios, associative and not commutative, so that the order of threads shows: digits side by side.
pub(crate) fn append(a: u64, b: u64) -> u64 {
    let digits = b.checked_ilog10().map_or(0, |log| log + 1);
    a * 10_u64.pow(digits) + b
}

/// The line of the source where a site is.
fn source_line(site: Site) -> String {
    // Paths of locations start at the workspace.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = fs::read_to_string(root.join(site.location.file())).expect("the source of a site");
    let line = file.lines().nth(site.location.line() as usize - 1);
    line.expect("a line of it").trim().to_owned()
}

/// What the first schedule with a fault showed.
fn verdict(report: &Report) -> String {
    let schedules = report.schedules;
    match (report.findings.first(), &report.failure) {
        (Some(finding), _) => format!("{} after {schedules}", finding.kind),
        (None, Some(_)) => format!("a wrong result after {schedules}"),
        (None, None) if report.complete => format!("nothing in all {schedules}"),
        (None, None) => format!("nothing in {schedules}"),
    }
}

impl Subject {
    /// Tries every mutant, prints what became of each, and compares the score with the table of the `README.md` beside this
    /// file.
    ///
    /// # Panics
    /// If a mutant survives that is not listed, one is found that is listed, an entry lists nothing, or the table is wrong.
    pub(crate) fn score(&self) {
        let scenarios: Vec<(&Scenario, Vec<Site>)> =
            self.scenarios.iter().map(|scenario| self.sites(scenario)).collect();
        let mut sites: Vec<Site> = Vec::new();
        for site in scenarios.iter().flat_map(|(_, sites)| sites) {
            if !sites.contains(site) {
                sites.push(*site);
            }
        }
        mutant::sort(&mut sites);
        let mut complaints = self.unreached(&sites);
        let is_unused = |site: &&Site| {
            let line = source_line(**site);
            self.unused.iter().any(|part| line.contains(part))
        };
        let postponable: Vec<Site> = sites.iter().filter(is_unused).copied().collect();
        if postponable.len() != self.unused.len() {
            writeln!(complaints, "{postponable:?} are like {:?}", self.unused).expect("a string");
        }
        let (mut mutants, mut found, mut used) = (0, 0, BTreeSet::new());
        for site in &sites {
            let (line, location) = (source_line(*site), site.location);
            println!("{}:{}: {line}", location.file(), location.line());
            let reach: Vec<&Scenario> = scenarios
                .iter()
                .filter(|(_, sites)| sites.contains(site))
                .map(|(scenario, _)| *scenario)
                .collect();
            for mutant in site.mutants() {
                let change = mutant.change.to_string();
                let entry = self.equivalent.iter().position(|entry| entry.lists(&line, &change));
                let (is_found, text) = try_mutant(mutant, &postponable, &reach);
                println!("    {change}: {text}");
                mutants += 1;
                found += usize::from(is_found);
                used.extend(entry);
                match (is_found, entry) {
                    (false, Some(entry)) => println!("        equivalent: {}", self.equivalent[entry].because),
                    (true, None) => {}
                    (false, None) => writeln!(complaints, "`{line}`, {change}, survives: {text}").expect("a string"),
                    (true, Some(_)) => {
                        writeln!(complaints, "`{line}`, {change}, is not equivalent: {text}").expect("a string")
                    }
                }
            }
        }
        for (entry, Equivalent { line, .. }) in self.equivalent.iter().enumerate() {
            if !used.contains(&entry) {
                writeln!(complaints, "nothing is like `{line}`").expect("a string");
            }
        }
        let row = format!(
            "| {} | {} | {mutants} | {found} | {} |",
            self.name,
            sites.len(),
            mutants - found
        );
        println!("{row}");
        if !include_str!("README.md").contains(&row) {
            writeln!(complaints, "README.md has another row: {row}").expect("a string");
        }
        assert!(complaints.is_empty(), "{}:\n{complaints}", self.name);
    }

    /// Complains of lines of the sources that seem to synchronise, and that no scenario reaches.
    fn unreached(&self, sites: &[Site]) -> String {
        let reached: Vec<String> = sites.iter().map(|site| source_line(*site)).collect();
        let mut complaints = String::new();
        for source in self.sources {
            let file = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(source));
            let file = file.expect("a source");
            let code = file.lines().map(str::trim).filter(|line| !line.starts_with("//"));
            for line in code.filter(|line| SIGNS.iter().any(|sign| line.contains(sign))) {
                let is_elsewhere = self.elsewhere.iter().any(|part| line.contains(part));
                if !is_elsewhere && !reached.iter().any(|reached| reached == line) {
                    writeln!(complaints, "no scenario reaches `{line}`").expect("a string");
                }
            }
        }
        complaints
    }

    /// Where the subject synchronises in a scenario, which is silent.
    fn sites<'a>(&self, scenario: &'a Scenario) -> (&'a Scenario, Vec<Site>) {
        let (name, explore) = scenario;
        let sites = mutant::record(|| {
            let report = explore();
            assert!(report.is_clean(), "{}, {name}, is not sound: {report}", self.name);
            println!("{name}: {}", verdict(&report));
        });
        let ours = |site: &Site| self.sources.iter().any(|source| site.location.file().ends_with(source));
        (scenario, sites.into_iter().filter(ours).collect())
    }
}

/// Whether any scenario shows a mutant, and what it shows.
fn try_mutant(mutant: Mutant, postponable: &[Site], scenarios: &[&Scenario]) -> (bool, String) {
    let mut silent = Vec::new();
    for (name, explore) in scenarios {
        let report = mutant::with(mutant, postponable, explore);
        let text = format!("{}, {name}", verdict(&report));
        if !report.is_clean() {
            return (true, text);
        }
        silent.push(text);
    }
    (false, silent.join("; "))
}
