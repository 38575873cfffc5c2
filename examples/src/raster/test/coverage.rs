//! Which pixels triangles cover.

use crate::raster::{camera::Camera, mesh::Mesh, scene::Scene, set_up, starts, triangle::ScreenTriangle};

const SIZE: u32 = 75;

/// Looks along the z axis at the plane z = 0, of which the screen shows -1 to 1.
fn camera() -> Camera {
    Camera::new([0.0, 0.0, 1.0], [0.0; 3], 0.1, 1.0, (SIZE, SIZE))
}

/// How often each pixel is covered.
fn counts(triangles: impl IntoIterator<Item = [[f32; 3]; 3]>) -> Vec<u32> {
    let mut counts = vec![0; (SIZE * SIZE) as usize];
    for corners in triangles {
        let triangle = ScreenTriangle::new(&camera(), corners);
        for tile in 0..triangle.tiles {
            triangle.draw_tile(0, tile, |x, y, _| counts[(y * SIZE + x) as usize] += 1);
        }
    }
    counts
}

/// A point of the plane, from the middles and corners of pixels on, and beyond the screen.
fn point(number: u64) -> [f32; 3] {
    let along = |part: u64| (part % 301) as f32 / 75.0 - 2.0;
    [along(number), along(number / 301), 0.0]
}

#[test]
fn triangles_around_a_point_cover_what_the_outline_covers_once() {
    // A square around a point in it, in four triangles, against the same square in two.
    let mut number = 1_u64;
    for _ in 0..60 {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (a, middle) = (point(number >> 16), point(number >> 32));
        let half = [middle[0] - a[0], middle[1] - a[1]];
        let corner = |x: f32, y: f32| [middle[0] + x, middle[1] + y, 0.0];
        let [p, q, r, s] = [
            corner(-half[0], -half[1]),
            corner(half[1], -half[0]),
            corner(half[0], half[1]),
            corner(-half[1], half[0]),
        ];
        let four = counts([[p, q, middle], [middle, q, r], [r, s, middle], [s, p, middle]]);
        let two = counts([[p, q, r], [p, r, s]]);
        assert!(
            four.iter().all(|&count| count <= 1),
            "a pixel on an edge is covered twice"
        );
        assert_eq!(four, two, "{half:?} about {middle:?}");
    }
}

#[test]
fn two_triangles_fill_the_screen_without_a_hole() {
    let [a, b, c, d] = [[-3.0, -2.0, 0.0], [3.0, -2.0, 0.0], [3.0, 2.0, 0.0], [-3.0, 2.0, 0.0]];
    assert!(counts([[a, b, c], [a, c, d]]).into_iter().all(|count| count == 1));
}

#[test]
fn what_is_behind_or_without_area_is_not_drawn() {
    let inside = [[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0]];
    let behind = inside.map(|[x, y, _]| [x, y, 1.5]);
    let flat = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.0]];
    let nowhere = inside.map(|[x, y, _]| [x, y, f32::NAN]);
    for corners in [behind, flat, nowhere] {
        assert_eq!(ScreenTriangle::new(&camera(), corners).tiles, 0, "{corners:?}");
    }
    assert!(ScreenTriangle::new(&camera(), inside).tiles > 0);
}

#[test]
fn what_is_nearer_is_smaller_whichever_way_it_is_seen() {
    let packed = |z: f32, turned: bool| {
        let [a, b, c] = [[-0.5, -0.5, z], [0.5, -0.5, z], [0.0, 0.5, z]];
        let triangle = ScreenTriangle::new(&camera(), if turned { [a, c, b] } else { [a, b, c] });
        let mut packed = None;
        for tile in 0..triangle.tiles {
            triangle.draw_tile(7, tile, |x, y, value| {
                if (x, y) == (37, 37) {
                    packed = Some(value);
                }
            });
        }
        packed.expect("the middle is covered")
    };
    assert_eq!(packed(0.0, false), packed(0.0, true));
    assert!(packed(0.2, false) < packed(0.0, false));
    assert_eq!(packed(0.0, false) as u32, 7);
}

#[test]
fn large_triangles_have_many_tiles_and_small_ones_few() {
    let scene = Scene::torus(40, 20, (320, 240));
    let (triangles, starts) = set_up(&scene);
    let ground = scene.look.ground as usize;
    assert_eq!(triangles.len(), ground + 2);
    assert!(triangles[ground..].iter().all(|triangle| triangle.tiles > 20));
    assert!(triangles[..ground].iter().all(|triangle| triangle.tiles <= 4));
    assert_eq!(starts.len(), triangles.len() + 1);
}

#[test]
fn tiles_are_listed_one_triangle_after_another() {
    assert_eq!(starts([2, 0, 3]), [0, 2, 2, 5]);
    assert_eq!(starts([]), [0]);
}

#[test]
fn the_torus_is_closed() {
    // Every edge belongs to two triangles, which walk it in opposite directions.
    let Mesh { triangles, .. } = Mesh::bumpy_torus(7, 5);
    let edges = |[a, b, c]: [u32; 3]| [(a, b), (b, c), (c, a)];
    let all: Vec<_> = triangles.into_iter().flat_map(edges).collect();
    for &(from, to) in &all {
        assert_eq!(all.iter().filter(|&&edge| edge == (from, to)).count(), 1);
        assert_eq!(all.iter().filter(|&&edge| edge == (to, from)).count(), 1);
    }
}
