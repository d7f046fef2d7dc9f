import ArgumentParser
import NIOSSL
import NIOPosix
import PathValidation
import CryptoExtras
@main struct Tumbler: ParsableCommand { func run() {} }
