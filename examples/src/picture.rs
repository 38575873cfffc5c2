//! Pictures, and the files they are written to.

use std::{
    env,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

/// A picture of 8 bits a channel, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Red, green and blue of each pixel.
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Rows.
    pub fn height(&self) -> usize {
        self.pixels.len().checked_div(self.width).unwrap_or(0)
    }

    /// Half as wide and half as high, each pixel the mean of four: edges become smooth. An odd last row or column is left out.
    pub fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height() / 2);
        let mean = |x: usize, y: usize, channel: usize| {
            let at = |dx: usize, dy: usize| u32::from(self.pixels[(2 * y + dy) * self.width + 2 * x + dx][channel]);
            ((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) / 4) as u8
        };
        let pixel = |at: usize| [0, 1, 2].map(|channel| mean(at % width, at / width, channel));
        Self {
            width,
            pixels: (0..width * height).map(pixel).collect(),
        }
    }

    /// Writes a PNG file, and the folder that it is in if there is none.
    ///
    /// # Errors
    /// If the picture has no pixels, or the file cannot be written.
    pub fn write_png(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let side = |pixels: usize| u32::try_from(pixels).map_err(io::Error::other);
        let mut file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(&mut file, side(self.width)?, side(self.height())?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        file.flush()
    }
}

/// Where an example writes its picture if it is not told: beside its program, in the folder that cargo builds in.
///
/// # Errors
/// If the system does not say where the program is.
pub fn beside_program() -> io::Result<PathBuf> {
    Ok(env::current_exe()?.with_extension("png"))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_picture_is_halved_by_means() {
        let grey = |shade: u8| [shade; 3];
        let picture = Picture {
            width: 3,
            pixels: [0, 10, 99, 20, 31, 99, 99, 99, 99].map(grey).to_vec(),
        };
        let half = picture.halved();
        assert_eq!((half.width, half.height()), (1, 1));
        assert_eq!(half.pixels, [grey(15)]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let picture = Picture {
            width: 2,
            pixels: vec![[1, 2, 3], [4, 5, 6], [7, 8, 9], [255, 0, 128]],
        };
        let path = env::temp_dir().join(format!("gridwise-picture-{}.png", std::process::id()));
        picture.write_png(&path).unwrap();
        let mut reader = png::Decoder::new(io::BufReader::new(File::open(&path).unwrap()))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; 12];
        let info = reader.next_frame(&mut bytes).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((info.width, info.height), (2, 2));
        assert_eq!(bytes, picture.pixels.as_flattened());
    }
}
