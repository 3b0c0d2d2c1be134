#if LIBFUZZER
    import CFuzzer
    import Foundation
    import Fuzzing

    /// Runs libFuzzer's loop on one target: `pushfarm-fuzz --target=NAME [libFuzzer's own arguments]`. See `make fuzz`.
    ///
    /// libFuzzer ignores `--target` and passes it on when it starts this program again.
    @main @MainActor enum FuzzingProgram {
        private static var target: FuzzTarget?

        static func main() {
            let words = CommandLine.arguments
            guard let target = FuzzTarget.all.first(where: { words.contains("--target=\($0.name)") }) else {
                // The Makefile also reads the names of the targets here.
                return print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            }
            self.target = target
            let arguments = [words[0], "-max_len=\(target.longestInput)"] + words.dropFirst()
            var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
            var count = Int32(arguments.count)
            pointers.withUnsafeMutableBufferPointer { pointers in
                var start = pointers.baseAddress
                exit(LLVMFuzzerRunDriver(&count, &start, { Self.run($0, $1) }))
            }
        }

        /// The callback for one input. libFuzzer calls this function on the thread that started the loop.
        private nonisolated static func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
            let input = Array(UnsafeBufferPointer(start: start, count: count))
            MainActor.assumeIsolated {
                do throws(Violation) {
                    try target?.check(input)
                } catch {
                    fatalError("\(error)")
                }
            }
            return 0
        }
    }
#else
    @main enum FuzzingProgram {
        static func main() { PlainLoop.run(CommandLine.arguments) }
    }
#endif
