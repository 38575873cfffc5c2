//! Vectors of three.

pub(super) type Vector = [f32; 3];

#[inline(always)]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scale(a: Vector, by: f32) -> Vector {
    a.map(|a| a * by)
}

#[inline(always)]
pub(super) fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
pub(super) fn length(a: Vector) -> f32 {
    dot(a, a).sqrt()
}

/// Of length 1; 0 stays as it is.
#[inline(always)]
pub(super) fn normalise(a: Vector) -> Vector {
    let length = length(a);
    if length > 0.0 { scale(a, 1.0 / length) } else { a }
}

/// From `a` to `b`.
#[inline(always)]
pub(super) fn mix(a: Vector, b: Vector, part: f32) -> Vector {
    add(a, scale(sub(b, a), part))
}
