//! Systems that are solved, and some that are not.

use std::fs;

use gridwise_cli::matrix_market::read_vector;

use crate::support::{Folder, POISSON, gridwise, residual};

#[test]
fn the_example_of_the_readme_is_what_it_says_and_is_solved() {
    let mut expected = String::new();
    for point in 1..=576 {
        expected += &format!("{point} {point} 4\n");
        if point % 24 != 0 {
            expected += &format!("{} {point} -1\n", point + 1);
        }
        if point + 24 <= 576 {
            expected += &format!("{} {point} -1\n", point + 24);
        }
    }
    let text = fs::read_to_string(POISSON).unwrap();
    assert!(text.ends_with(&format!("\n576 576 1680\n{expected}")));

    let outcome = gridwise(["solve", POISSON]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert!(
        outcome
            .row("matrix")
            .ends_with("poisson_24.mtx 576 x 576, 2784 entries"),
        "{outcome:?}"
    );
    assert!(outcome.row("b").starts_with("A times a vector of ones"), "{outcome:?}");
    assert_eq!(
        outcome.row("method"),
        "cg: the matrix is symmetric with a positive diagonal"
    );
    assert!(outcome.stdout.ends_with("\n\n converged\n"), "{outcome:?}");
}

#[test]
fn the_object_and_the_text_agree() {
    let solve = ["solve", POISSON, "--strategy", "persistent", "--device", "cpu:blocks=2"];
    let text = gridwise(solve);
    let json = gridwise([&solve[..], &["--json"]].concat()).json();
    let number = |field: &str| json[field].as_f64().unwrap();
    let word = |field: &str| json[field].as_str().unwrap();
    assert_eq!(
        text.row("method"),
        format!("{}: {}", word("method"), word("method_reason"))
    );
    assert_eq!(
        text.row("strategy"),
        format!("{}: {}", word("strategy"), word("reason"))
    );
    assert_eq!(
        text.row("grid"),
        format!("{} blocks of 1 thread on {}", json["blocks"], word("device"))
    );
    assert_eq!(text.row("steps"), json["steps"].to_string());
    assert!(
        text.row("residual")
            .starts_with(&format!("{:.2e} = ", number("residual"))),
        "{text:?} {json}"
    );
    assert_eq!(text.row("tolerance"), format!("{:e}", number("tolerance")));
    assert!(
        text.row("x")
            .ends_with(&format!("{:.2e}", number("distance_from_ones"))),
        "{text:?} {json}"
    );
    assert_eq!(json["file"], POISSON);
    assert_eq!((&json["rows"], &json["nonzeros"]), (&576.into(), &2784.into()));
    assert_eq!(
        (&json["converged"], &json["status"]),
        (&true.into(), &"converged".into())
    );
    assert_eq!(json["rhs"], serde_json::Value::Null);
    assert!(
        number("residual") <= number("tolerance") && number("seconds") > 0.0,
        "{json}"
    );
}

#[test]
fn the_solution_in_the_file_satisfies_the_system() {
    let folder = Folder::new("solution");
    let b: Vec<f64> = (0..576).map(|i| f64::from(i % 7) - 3.0).collect();
    let (rhs, x) = (folder.vector("b.mtx", &b), folder.path("x.mtx"));
    let outcome = gridwise([
        "solve",
        POISSON,
        "--rhs",
        &rhs,
        "-o",
        &x,
        "--tolerance",
        "1e-10",
        "--json",
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json = outcome.json();
    let found = residual(POISSON, Some(&b), &read_vector(&x, 576, Default::default()).unwrap());
    assert!(found <= 1e-10, "{found}");
    let reported = json["residual"].as_f64().unwrap();
    assert!((found - reported).abs() <= 1e-3 * found, "{found} {reported}");
    assert_eq!(
        (&json["rhs"], &json["output"]),
        (&rhs.clone().into(), &x.clone().into())
    );
    assert_eq!(json["distance_from_ones"], serde_json::Value::Null);
    assert_eq!(folder.names(), ["b.mtx", "x.mtx"]);
}

#[test]
fn every_strategy_and_method_solves_and_the_strategies_agree_bit_for_bit() {
    let folder = Folder::new("strategies");
    let x = folder.path("x.mtx");
    for device in ["cpu:blocks=1", "cpu:blocks=2", "cpu:blocks=3,threads=2,wait=passive"] {
        for method in ["auto", "cg", "bicgstab"] {
            let solutions = ["auto", "persistent", "relaunch"].map(|strategy| {
                let outcome = gridwise([
                    "solve",
                    POISSON,
                    "--device",
                    device,
                    "--method",
                    method,
                    "--strategy",
                    strategy,
                    "-o",
                    &x,
                    "--json",
                ]);
                assert_eq!(outcome.code, Some(0), "{outcome:?}");
                let json = outcome.json();
                if strategy != "auto" {
                    assert_eq!(
                        (&json["strategy"], &json["reason"]),
                        (&strategy.into(), &"it was asked for".into())
                    );
                }
                assert_eq!(json["method"], if method == "auto" { "cg" } else { method });
                assert_eq!(json["method_reason"] == "it was asked for", method != "auto", "{json}");
                fs::read_to_string(&x).unwrap()
            });
            assert!(
                solutions.iter().all(|solution| *solution == solutions[0]),
                "{device} {method}"
            );
        }
    }
}

#[test]
fn steps_that_do_not_suffice_end_with_1_and_the_best_solution_so_far() {
    let folder = Folder::new("few-steps");
    let (x, plot) = (folder.path("x.mtx"), folder.path("r.svg"));
    let solve = ["solve", POISSON, "--max-steps", "5", "-o", &x, "--plot", &plot];
    let (text, json) = (gridwise(solve), gridwise([&solve[..], &["--json"]].concat()));
    for outcome in [&text, &json] {
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
    }
    let object = json.json();
    let reported = object["residual"].as_f64().unwrap();
    assert_eq!((&object["steps"], &object["converged"]), (&5.into(), &false.into()));
    assert_eq!(object["status"], "did not converge: out of steps");
    let message = format!(
        "gridwise: {POISSON}: did not converge: out of steps; after 5 steps the residual is {reported:.2e}, the tolerance 1e-8\n"
    );
    assert_eq!((&text.stderr, &json.stderr), (&message, &message));
    assert!(
        text.stdout.ends_with("\n\n did not converge: out of steps\n"),
        "{text:?}"
    );
    let found = residual(POISSON, None, &read_vector(&x, 576, Default::default()).unwrap());
    assert!(
        found < 1.0 && (found - reported).abs() <= 1e-9 * found,
        "{found} {reported}"
    );
    assert!(fs::read_to_string(&plot).unwrap().contains("5 steps"));
}

#[test]
fn a_tolerance_below_rounding_is_not_said_to_be_reached() {
    let outcome = gridwise(["solve", POISSON, "--tolerance", "1e-20", "--json"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let json = outcome.json();
    assert!(json["residual"].as_f64().unwrap() > 1e-20, "{json}");
    assert!(
        outcome
            .stderr
            .contains("rounding errors hold the residual above the tolerance"),
        "{outcome:?}"
    );
}

#[test]
fn a_system_without_solution_ends_with_1() {
    let folder = Folder::new("no-solution");
    let matrix = folder.matrix("A.mtx", "real general", "2 2 2\n1 1 1\n1 2 1");
    let rhs = folder.vector("b.mtx", &[0.0, 1.0]);
    for method in ["auto", "bicgstab"] {
        let outcome = gridwise(["solve", &matrix, "--rhs", &rhs, "--method", method, "--json"]);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let json = outcome.json();
        assert_eq!(json["converged"], false);
        assert!(json["status"].as_str().unwrap().starts_with("broke down: "), "{json}");
        assert!(outcome.stderr.contains(json["status"].as_str().unwrap()), "{outcome:?}");
    }
}

#[test]
fn a_system_with_nothing_to_do_is_solved_by_zero() {
    let folder = Folder::new("nothing");
    let x = folder.path("x.mtx");
    for (name, body, size) in [("zero.mtx", "3 3 3\n1 1 0\n2 2 0\n3 3 0", 3), ("none.mtx", "0 0 0", 0)] {
        let matrix = folder.matrix(name, "real general", body);
        let outcome = gridwise(["solve", &matrix, "-o", &x]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
        assert_eq!(read_vector(&x, size, Default::default()).unwrap(), vec![0.0; size]);
        let json = gridwise(["solve", &matrix, "--json"]).json();
        assert_eq!((&json["steps"], &json["residual"]), (&0.into(), &0.0.into()), "{json}");
    }
}

#[test]
fn the_plot_is_a_picture_of_every_step() {
    let folder = Folder::new("plot");
    let plot = folder.path("residual.svg");
    let outcome = gridwise(["solve", POISSON, "--plot", &plot, "--json"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let (json, svg) = (outcome.json(), fs::read_to_string(&plot).unwrap());
    assert_eq!(json["plot"], plot.as_str());
    let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
    assert_eq!(
        title.text(),
        Some(format!("poisson_24.mtx: cg, {} steps", json["steps"]).as_str())
    );
    // The dot of each step, and that of the start.
    let dots = svg.matches("<circle").count() as u64;
    assert_eq!(dots, json["steps"].as_u64().unwrap() + 1);
}
