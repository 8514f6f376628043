//! Lets `cargo xtask dist` ask the linker where each constant is in the memory of the program.

fn main() {
    println!("cargo::rerun-if-env-changed=OPTIMIST_LINK_MAP");
    if let Ok(file) = std::env::var("OPTIMIST_LINK_MAP") {
        println!("cargo::rustc-link-arg-bins=-Map={file}");
    }
}
