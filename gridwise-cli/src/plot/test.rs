use super::{
    axis::label_distance,
    residual::{curves, residual_svg},
    *,
};

type Places = Vec<(f64, f64)>;

/// The places of the line's points, and of the dots.
fn drawn(svg: &str) -> (Places, Places) {
    let between = |text: &str, start: &str| {
        let rest = &text[text.find(start).unwrap() + start.len()..];
        rest[..rest.find('"').unwrap()].to_owned()
    };
    let (mut line, mut dots) = (Vec::new(), Vec::new());
    for row in svg.lines() {
        if row.starts_with("<polyline") {
            for pair in between(row, "points=\"").split_whitespace() {
                let (x, y) = pair.split_once(',').unwrap();
                line.push((x.parse().unwrap(), y.parse().unwrap()));
            }
        } else if row.starts_with("<circle") {
            dots.push((
                between(row, "cx=\"").parse().unwrap(),
                between(row, "cy=\"").parse().unwrap(),
            ));
        }
    }
    (line, dots)
}

#[test]
fn no_residuals_give_an_empty_plot_that_says_so() {
    for residuals in [&[][..], &[f64::NAN, f64::INFINITY]] {
        let svg = residual_svg(residuals, "A.mtx", 1e-8);
        assert!(svg.contains("no residuals"));
        assert_eq!(drawn(&svg), (vec![], vec![]));
    }
}

#[test]
fn one_residual_is_a_dot() {
    let (line, dots) = drawn(&residual_svg(&[1e-3], "A.mtx", 1e-8));
    assert!(line.is_empty());
    assert_eq!(dots.len(), 1);
}

#[test]
fn powers_of_ten_lie_on_their_lines() {
    let (line, _) = drawn(&residual_svg(&[1.0, 1e-1, 1e-4], "A.mtx", 0.0));
    // Five decades: one below the smallest.
    let decade = (BOTTOM - TOP) / 5.0;
    assert_eq!(line, [(LEFT, TOP), (420.0, TOP + decade), (RIGHT, TOP + 4.0 * decade)]);
}

#[test]
fn zeros_lie_on_the_bottom() {
    let (line, _) = drawn(&residual_svg(&[1.0, 0.0, -1.0], "A.mtx", 1e-8));
    assert_eq!(line[1..], [(420.0, BOTTOM), (RIGHT, BOTTOM)]);
    let (line, _) = drawn(&residual_svg(&[0.0, 0.0], "A.mtx", 0.0));
    assert_eq!(line, [(LEFT, BOTTOM), (RIGHT, BOTTOM)]);
}

#[test]
fn residuals_that_are_not_finite_leave_a_gap() {
    let svg = residual_svg(
        &[1.0, 0.5, f64::NAN, f64::INFINITY, 0.1, f64::NAN, 0.2, 0.1],
        "A.mtx",
        1e-8,
    );
    assert_eq!(svg.matches("<polyline").count(), 2);
    let (line, dots) = drawn(&svg);
    assert_eq!((line.len(), dots.len()), (4, 5));
}

#[test]
fn a_long_run_is_drawn_from_few_points_that_keep_its_ends_and_peaks() {
    let mut residuals: Vec<f64> = (0..100_000).map(|step| 10_f64.powf(-f64::from(step) / 1e4)).collect();
    residuals[54_321] = 1e3;
    residuals[12_345] = 1e-12;
    // So that neither end is the extreme of its surroundings.
    (residuals[10], residuals[20]) = (0.1, 10.0);
    (residuals[99_980], residuals[99_990]) = (1e-11, 1e-9);
    let svg = residual_svg(&residuals, "A.mtx", 1e-8);
    let (line, _) = drawn(&svg);
    assert!(line.len() <= 1002, "{}", line.len());
    assert!(svg.len() < 30_000, "{}", svg.len());
    assert_eq!((line[0].0, line[line.len() - 1].0), (LEFT, RIGHT));
    assert!(line.is_sorted_by(|a, b| a.0 <= b.0));
    assert!(line.iter().any(|&(_, y)| y == TOP), "the peak at 1e3");
    assert_eq!(
        curves(&residuals)
            .concat()
            .iter()
            .filter(|point| point.1 == 1e-12)
            .count(),
        1
    );
}

#[test]
fn a_run_that_fits_is_drawn_whole() {
    let residuals = vec![1.0; 1000];
    assert_eq!(curves(&residuals).concat().len(), 1000);
}

#[test]
fn extreme_residuals_stay_in_the_frame() {
    let svg = residual_svg(&[f64::MAX, f64::MIN_POSITIVE, 5e-324], "A.mtx", 5e-324);
    let (line, _) = drawn(&svg);
    assert!(
        line.iter()
            .all(|&(x, y)| (LEFT..=RIGHT).contains(&x) && (TOP..=BOTTOM).contains(&y))
    );
    assert!(svg.matches("font-size=\"10\"").count() <= 12, "labels would overlap");
}

#[test]
fn the_tolerance_is_a_dashed_line_with_its_value_unless_it_has_no_place() {
    let svg = residual_svg(&[1.0, 1e-9], "A.mtx", 1.5e-8);
    assert!(svg.contains("stroke-dasharray") && svg.contains(">1.5e-8<"));
    assert!(residual_svg(&[1.0], "A.mtx", 1.0 / 3.0).contains(">3.33e-1<"));
    for tolerance in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(!residual_svg(&[1.0, 1e-9], "A.mtx", tolerance).contains("stroke-dasharray"));
    }
}

#[test]
fn the_title_is_escaped_and_shortened() {
    let svg = residual_svg(&[1.0], "a<b> & \"c\" 'd'\n\u{1b}", 1e-8);
    assert_eq!(
        svg.matches("a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos; \u{fffd}<")
            .count(),
        2
    );
    let long = "&".repeat(1000);
    let svg = residual_svg(&[1.0], &long, 1e-8);
    assert!(svg.contains(&format!(">{}…</text>", "&amp;".repeat(63))));
}

#[test]
fn labels_stand_at_round_distances_and_are_never_more_than_eleven() {
    assert_eq!(
        [0, 1, 10, 11, 21, 22, 54, 55, 109].map(label_distance),
        [1, 1, 1, 2, 2, 5, 5, 10, 10]
    );
    for range in [1, 99_999, usize::MAX] {
        assert!(range / label_distance(range) <= 10);
    }
}

/// Writes pictures to look at into the folder that `GRIDWISE_PLOTS` names.
#[test]
fn pictures_to_look_at() {
    let Some(folder) = std::env::var_os("GRIDWISE_PLOTS").map(std::path::PathBuf::from) else {
        return;
    };
    let wave = |step: usize| 10_f64.powf(-(step as f64) / 4e3) * (1.3 + (step as f64 / 300.0).sin());
    for (name, residuals, tolerance) in [
        ("empty", vec![], 1e-8),
        ("one", vec![1e-3], 1e-8),
        ("two", vec![1.0, 1e-9], 1e-8),
        (
            "typical",
            (0..40).map(|step| 10_f64.powf(-f64::from(step) / 4.7)).collect(),
            1e-8,
        ),
        ("long", (0..100_000).map(wave).collect(), 1e-20),
        (
            "gaps",
            vec![1.0, 0.1, f64::NAN, 0.02, f64::INFINITY, 1e-3, 1e-4, 0.0, 0.0],
            1e-6,
        ),
        ("extreme", vec![f64::MAX, 1.0, 5e-324], 1e-8),
        ("narrow", vec![1.2, 1.1, 1.3, 1.15], 1.0),
    ] {
        let svg = residual_svg(
            &residuals,
            "bcsstk13: conjugate gradients, <relative> residual & co",
            tolerance,
        );
        std::fs::write(folder.join(name).with_extension("svg"), svg).unwrap();
    }
}
