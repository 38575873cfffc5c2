//! From the nearest triangle of a pixel to its colour: light from one side and from the sky, and a haze that grows with depth.

use super::{
    scene::{Look, Scene},
    triangle::ScreenTriangle,
    vector::{Vector, add, cross, dot, length, mix, normalise, scale, sub},
};

/// A pixel that no triangle covers: farther than any.
pub const BACKGROUND: u64 = u64::MAX;

/// Towards the light.
const LIGHT: Vector = [-0.35, 0.80, 0.48];

const SKY: Vector = [0.36, 0.52, 0.72];
const HORIZON: Vector = [0.74, 0.79, 0.83];
const CLAY: Vector = [0.62, 0.23, 0.12];
const GROUND: [Vector; 2] = [[0.34, 0.36, 0.37], [0.42, 0.44, 0.45]];

/// What is drawn: triangles, their corners, and the surface's direction at each corner.
#[derive(Clone, Copy, Debug)]
pub struct Surfaces<'a> {
    /// Corners.
    pub positions: &'a [[f32; 3]],
    /// At each corner.
    pub normals: &'a [[f32; 3]],
    /// The corners of each triangle.
    pub triangles: &'a [[u32; 3]],
}

impl<'a> Surfaces<'a> {
    /// Those of a scene.
    pub fn of(scene: &'a Scene) -> Self {
        Self {
            positions: &scene.mesh.positions,
            normals: &scene.normals,
            triangles: &scene.mesh.triangles,
        }
    }

    /// A triangle on the screen.
    #[inline(always)]
    pub fn on_screen(&self, look: &Look, number: usize) -> ScreenTriangle {
        let corners = self.triangles[number].map(|corner| self.positions[corner as usize]);
        ScreenTriangle::new(&look.camera, corners)
    }

    /// The colour of a pixel whose nearest triangle is `packed`.
    #[inline(always)]
    pub fn shade(&self, look: &Look, (x, y): (usize, usize), packed: u64) -> [u8; 3] {
        let ray = look.camera.ray(x, y);
        let towards = normalise(ray);
        let behind = mix(HORIZON, SKY, (towards[1] * 2.5 + 0.1).clamp(0.0, 1.0));
        let light = if packed == BACKGROUND {
            behind
        } else {
            let (point, normal) = self.hit(look, ray, packed as u32 as usize);
            let own = if packed as u32 >= look.ground {
                ground(look, point)
            } else {
                clay(normal, towards)
            };
            let far = length(sub(point, look.camera.eye())) / look.radius;
            let haze = 1.0 - 1.0 / (1.0 + (0.05 * far) * (0.05 * far));
            mix(own, behind, haze)
        };
        // Eyes see differences of dark shades better than of bright ones.
        light.map(|light| (light.clamp(0.0, 1.0).sqrt() * 255.0 + 0.5) as u8)
    }

    /// Where a ray meets the plane of a triangle, and the surface's direction there, towards the camera.
    #[inline(always)]
    fn hit(&self, look: &Look, ray: Vector, number: usize) -> (Vector, Vector) {
        let corners = self.triangles[number].map(|corner| corner as usize);
        let [a, b, c] = corners.map(|corner| self.positions[corner]);
        // Möller and Trumbore, 1997.
        let (to_b, to_c, from_a) = (sub(b, a), sub(c, a), sub(look.camera.eye(), a));
        let across = cross(ray, to_c);
        let turned = cross(from_a, to_b);
        let volume = dot(to_b, across);
        let inverse = if volume == 0.0 { 0.0 } else { 1.0 / volume };
        // A pixel's middle may be a little outside the triangle, whose corners on the screen are rounded.
        let part_b = (dot(from_a, across) * inverse).clamp(0.0, 1.0);
        let part_c = (dot(ray, turned) * inverse).clamp(0.0, 1.0 - part_b);
        let point = add(a, add(scale(to_b, part_b), scale(to_c, part_c)));
        let [normal_a, normal_b, normal_c] = corners.map(|corner| self.normals[corner]);
        let (from_b, from_c) = (scale(normal_b, part_b), scale(normal_c, part_c));
        let normal = normalise(add(scale(normal_a, 1.0 - part_b - part_c), add(from_b, from_c)));
        let faces_away = dot(normal, ray) > 0.0;
        (point, if faces_away { scale(normal, -1.0) } else { normal })
    }
}

/// The light that comes from the mesh.
#[inline(always)]
fn clay(normal: Vector, towards: Vector) -> Vector {
    let direct = dot(normal, normalise(LIGHT)).max(0.0);
    let from_sky = 0.5 + 0.5 * normal[1];
    let half = normalise(sub(normalise(LIGHT), towards));
    let gloss = {
        let mut power = dot(normal, half).max(0.0);
        for _ in 0..5 {
            power *= power;
        }
        0.35 * power
    };
    let bounced = scale(GROUND[0], 0.28 * (1.0 - from_sky));
    let lit = [0, 1, 2].map(|k| CLAY[k] * (0.95 * direct + 0.42 * from_sky * SKY[k] + bounced[k]));
    add(lit, [gloss; 3])
}

/// The light that comes from the ground: large squares, and a soft shade beneath the mesh.
#[inline(always)]
fn ground(look: &Look, point: Vector) -> Vector {
    let [x, z] = look.offset_from_foot(point);
    let square = ((x * 2.0).floor() + (z * 2.0).floor()).rem_euclid(2.0);
    let shade = 1.0 - 0.55 / (1.0 + (x * x + z * z) * (x * x + z * z) * 3.0);
    scale(GROUND[square as usize % 2], shade)
}
