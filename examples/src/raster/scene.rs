//! A mesh on the ground, and how it is looked at.

use super::{
    camera::Camera,
    mesh::Mesh,
    vector::{add, normalise, scale, sub},
};

/// Where the camera is, as seen from the mesh.
const TOWARDS_CAMERA: [f32; 3] = [0.52, 0.42, 0.85];

/// What the screen's shorter side takes in, to either side of the middle.
const SLOPE: f32 = 0.36;

/// What shading has to know besides the triangles.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Look {
    /// The camera.
    pub camera: Camera,
    /// Number of the first triangle that belongs to the ground.
    pub ground: u32,
    /// What the mesh stands on.
    pub foot: [f32; 3],
    /// How far the mesh reaches.
    pub radius: f32,
}

/// A mesh, and the ground beneath it: two triangles that fill half of the picture.
#[derive(Clone, Debug)]
pub struct Scene {
    /// With the ground.
    pub mesh: Mesh,
    /// At each corner.
    pub normals: Vec<[f32; 3]>,
    /// How it is looked at.
    pub look: Look,
}

impl Scene {
    /// The scene around a mesh, on a screen of `size` columns and rows.
    ///
    /// # Panics
    /// If there are more corners than 32 bits number.
    pub fn new(mut mesh: Mesh, size: (u32, u32)) -> Self {
        let mut normals = mesh.normals();
        let [low, high] = mesh.bounds();
        let centre = scale(add(low, high), 0.5);
        // A mesh without extent is looked at as well.
        let radius = mesh.radius_about(centre).max(1e-3);
        let foot = [centre[0], low[1] - 0.002 * radius, centre[2]];

        let back = normalise(TOWARDS_CAMERA);
        let distance = 1.08 * radius / SLOPE;
        let eye = add(centre, scale(back, distance));
        let near = 0.01 * distance;
        let camera = Camera::new(eye, centre, near, SLOPE, size);

        // The ground, from before the picture's lower edge, and in front of the camera, to far behind the mesh.
        let forward = normalise([-back[0], 0.0, -back[2]]);
        let right = [-forward[2], 0.0, forward[0]];
        let below_eye = [eye[0], foot[1], eye[2]];
        let corner = |ahead: f32, aside: f32| {
            add(
                below_eye,
                add(scale(forward, ahead * radius), scale(right, aside * radius)),
            )
        };
        let first = u32::try_from(mesh.positions.len()).expect("corners are numbered by 32 bits");
        let ground = u32::try_from(mesh.triangles.len()).expect("triangles are numbered by 32 bits");
        let corners = [
            corner(0.3, -60.0),
            corner(0.3, 60.0),
            corner(60.0, 60.0),
            corner(60.0, -60.0),
        ];
        mesh.positions.extend(corners);
        normals.extend([[0.0, 1.0, 0.0]; 4]);
        mesh.triangles
            .extend([[0, 1, 2], [0, 2, 3]].map(|corners| corners.map(|corner: u32| first + corner)));
        Self {
            mesh,
            normals,
            look: Look {
                camera,
                ground,
                foot,
                radius,
            },
        }
    }

    /// The bumpy torus.
    pub fn torus(around: u32, across: u32, size: (u32, u32)) -> Self {
        Self::new(Mesh::bumpy_torus(around, across), size)
    }
}

impl Look {
    /// How far a point is from where the mesh stands, in radii, along the ground.
    #[inline(always)]
    pub(super) fn offset_from_foot(&self, point: [f32; 3]) -> [f32; 2] {
        let from = sub(point, self.foot);
        [from[0] / self.radius, from[2] / self.radius]
    }
}
