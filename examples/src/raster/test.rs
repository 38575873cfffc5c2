mod coverage;
mod obj;
