use super::*;

fn rectangle(width: u32, height: u32) -> Rectangle {
    Rectangle {
        x: 3,
        y: 5,
        width,
        height,
    }
}

/// How often each pixel of a picture of 64 by 64 is in `pixels`.
fn counts(pixels: impl IntoIterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut counts = vec![0; 64 * 64];
    for (x, y) in pixels {
        counts[(y * 64 + x) as usize] += 1;
    }
    counts
}

fn all(rectangle: Rectangle) -> impl Iterator<Item = (u32, u32)> {
    let Rectangle { x, y, width, height } = rectangle;
    (y..y + height).flat_map(move |row| (x..x + width).map(move |column| (column, row)))
}

#[test]
fn edge_and_inside_are_each_pixel_once() {
    for width in [0, 1, 2, 3, 9, 16] {
        for height in [0, 1, 2, 3, 8, 17] {
            let rectangle = rectangle(width, height);
            let edge = (0..rectangle.edge_len()).map(|number| rectangle.on_edge(number));
            let parts = counts(edge.chain(all(rectangle.inside())));
            assert_eq!(parts, counts(all(rectangle)), "{width} by {height}");
        }
    }
}

#[test]
fn quarters_are_each_pixel_once() {
    for (width, height) in [(9, 9), (10, 31), (33, 12)] {
        let rectangle = rectangle(width, height);
        assert!(rectangle.is_large());
        assert_eq!(
            counts(rectangle.quarters().into_iter().flat_map(all)),
            counts(all(rectangle))
        );
    }
}

#[test]
fn the_subdivision_shows_what_every_pixel_by_itself_shows() {
    let (width, height) = (120, 97);
    let view = View::whole(width, height, 60);
    let mut image = vec![UNKNOWN; (width * height) as usize];
    sequentially(view, &mut image, width as usize, Rectangle::whole(width, height));
    let differing = all(Rectangle::whole(width, height))
        .filter(|&(x, y)| image[(y * width + x) as usize] != view.escape(x, y))
        .count();
    // What is thinner than a pixel may slip through an edge.
    assert!(differing <= 3, "{differing} pixels");
}
