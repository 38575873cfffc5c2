//! Lists what a PTX text holds: kernels, their parameters, registers, shared memory and instructions.

use ptx_sim::Module;
use std::process::ExitCode;

const USAGE: &str = "usage: ptx-sim FILE.ptx [--entry NAME] [--list]

Reads the text, refuses what is not known in it (by name and line), and lists its kernels; with --list also how often each instruction occurs.";

fn main() -> ExitCode {
    let (mut file, mut entry, mut list) = (None, None, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--list" => list = true,
            "--entry" => entry = arguments.next(),
            "--help" | "-h" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            _ if file.is_none() && !argument.starts_with('-') => file = Some(argument),
            _ => return usage(&format!("unexpected argument `{argument}`")),
        }
    }
    let Some(file) = file else {
        return usage("no file given");
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => return usage(&format!("{file}: {error}")),
    };
    let module = match Module::parse(&text) {
        Ok(module) => module,
        Err(error) => {
            eprintln!("{file}:{}: {}", error.line, error.message);
            return ExitCode::from(1);
        }
    };
    if let Some(name) = &entry
        && module.kernel(name).is_none()
    {
        eprintln!("{file}: no kernel `{name}`");
        return ExitCode::from(1);
    }
    println!("version {}, target {}", module.version(), module.target());
    for name in module.kernels() {
        if entry.as_deref().is_none_or(|wanted| wanted == name)
            && let Some(kernel) = module.kernel(name)
        {
            show(name, &kernel, list);
        }
    }
    ExitCode::SUCCESS
}

fn show(name: &str, kernel: &ptx_sim::Kernel<'_>, list: bool) {
    let parameters: Vec<String> = kernel
        .parameters()
        .iter()
        .map(|p| format!("{}+{}", p.offset, p.size))
        .collect();
    println!(
        "{name}: parameters [{}], {} bytes; registers declared {}; shared {}; local {}",
        parameters.join(", "),
        kernel.parameter_bytes(),
        kernel.registers(),
        kernel.static_shared(),
        kernel.local()
    );
    if list {
        for (mnemonic, count) in kernel.mnemonics() {
            println!("  {count:6} {mnemonic}");
        }
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("{message}\n{USAGE}");
    ExitCode::from(2)
}
