//! Meshes of triangles.

use std::{collections::HashMap, f32::consts::TAU};

use super::vector::{Vector, add, cross, length, normalise, sub};

/// Triangles over shared corners. The y axis points up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners.
    pub positions: Vec<[f32; 3]>,
    /// The corners of each triangle, by number from 0.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// A torus with bumps, lying flat: `2 * around * across` triangles, smaller towards the hole.
    ///
    /// # Panics
    /// If there are more corners than 32 bits number.
    pub fn bumpy_torus(around: u32, across: u32) -> Self {
        let corner = |u: u32, v: u32| {
            let (long, short) = (TAU * u as f32 / around as f32, TAU * v as f32 / across as f32);
            let tube = 0.42 + 0.035 * (9.0 * long).sin() * (5.0 * short).cos();
            let from_axis = 1.0 + tube * short.cos();
            [from_axis * long.cos(), tube * short.sin(), from_axis * long.sin()]
        };
        let number = |u: u32, v: u32| (u % around) * across + v % across;
        let quads = (0..around).flat_map(|u| (0..across).map(move |v| (u, v)));
        Self {
            positions: quads.clone().map(|(u, v)| corner(u, v)).collect(),
            triangles: quads
                .flat_map(|(u, v)| {
                    let [a, b, c, d] = [(u, v), (u, v + 1), (u + 1, v + 1), (u + 1, v)].map(|(u, v)| number(u, v));
                    [[a, b, c], [a, c, d]]
                })
                .collect(),
        }
    }

    /// The direction that the surface faces at each corner: that of the triangles there, by their area. Corners at one place count
    /// as one: many files have seams, where each side has corners of its own. Of length 1, or 0 where no triangle has an area.
    pub fn normals(&self) -> Vec<[f32; 3]> {
        let place = |corner: &Vector| corner.map(f32::to_bits);
        let mut sums = HashMap::new();
        for corners in &self.triangles {
            let corners = corners.map(|corner| self.positions[corner as usize]);
            let [a, b, c] = corners;
            let normal = cross(sub(b, a), sub(c, a));
            for corner in &corners {
                let sum = sums.entry(place(corner)).or_insert([0.0; 3]);
                *sum = add(*sum, normal);
            }
        }
        let normal = |corner| sums.get(&place(corner)).copied().map(normalise).unwrap_or_default();
        self.positions.iter().map(normal).collect()
    }

    /// The box around all corners: its lowest and its highest corner; around the origin if there are none.
    pub fn bounds(&self) -> [[f32; 3]; 2] {
        let corners = self.positions.iter().copied();
        let by = |pick: fn(f32, f32) -> f32| {
            let combine = |a: Vector, b: Vector| [0, 1, 2].map(|axis| pick(a[axis], b[axis]));
            corners.clone().reduce(combine).unwrap_or_default()
        };
        [by(f32::min), by(f32::max)]
    }

    /// Radius of a sphere around `centre` that holds all corners.
    pub fn radius_about(&self, centre: [f32; 3]) -> f32 {
        let distances = self.positions.iter().map(|&corner| length(sub(corner, centre)));
        distances.fold(0.0, f32::max)
    }
}
