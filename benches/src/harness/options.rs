//! The command line of a bench.

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Few short samples: does it still run? Also without `--bench`, which `cargo bench` passes and `cargo test --all-targets` does not.
    pub quick: bool,
    /// Tables in Markdown.
    pub markdown: bool,
    /// Samples of each contender.
    pub rounds: usize,
    /// Only contenders whose `title/name` contains one of these, without regard to case; all if empty.
    pub filters: Vec<String>,
}

/// Rounds of a full run: medians of fewer than nine move too much.
const ROUNDS: usize = 11;
const QUICK_ROUNDS: usize = 3;

const HELP: &str =
    "Usage: cargo bench -p gridwise-benches --bench NAME -- [--quick] [--markdown] [--rounds N] [FILTER]...

  --quick      few short samples: does it still run?
  --markdown   tables in Markdown
  --rounds N   samples of each contender (11; quick: 3)
  FILTER       only contenders whose \"title/name\" contains one of these, and their baselines";

impl Options {
    /// From the arguments of this process. Prints the help and exits on `--help`, and exits with 2 on what it does not know.
    pub fn from_arguments() -> Self {
        match Self::parse(std::env::args().skip(1)) {
            Ok(Some(options)) => options,
            Ok(None) => {
                println!("{HELP}");
                std::process::exit(0);
            }
            Err(unknown) => {
                eprintln!("{unknown}\n\n{HELP}");
                std::process::exit(2);
            }
        }
    }

    /// `None` asks for the help.
    pub(super) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let (mut rounds, mut measuring) = (None, false);
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--markdown" => options.markdown = true,
                "--rounds" => {
                    let count = arguments
                        .next()
                        .and_then(|count| count.parse().ok())
                        .filter(|&count: &usize| count > 0);
                    rounds = Some(count.ok_or("--rounds needs a number above 0")?);
                }
                "--help" | "-h" => return Ok(None),
                "--bench" => measuring = true,
                flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
                filter => options.filters.push(filter.to_lowercase()),
            }
        }
        // `cargo bench` passes `--bench`; `cargo test --all-targets` runs the same program without.
        options.quick |= !measuring;
        options.rounds = rounds.unwrap_or(if options.quick { QUICK_ROUNDS } else { ROUNDS });
        Ok(Some(options))
    }

    /// Whether the filters let this contender through.
    pub(super) fn selects(&self, title: &str, name: &str) -> bool {
        let whole = format!("{title}/{name}").to_lowercase();
        self.filters.is_empty() || self.filters.iter().any(|filter| whole.contains(filter))
    }
}
