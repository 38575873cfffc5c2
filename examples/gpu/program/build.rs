fn main() -> Result<(), gridwise_ptx::Error> {
    gridwise_ptx::build("../kernels")
}
