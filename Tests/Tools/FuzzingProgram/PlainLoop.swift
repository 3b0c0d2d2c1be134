import Foundation
import Fuzzing

/// The fuzz loop of `make test`, limited in processor time: `--target=NAME --seconds=N --seed=N --last=FILE INPUT…`.
enum PlainLoop {
    static func run(_ words: [String]) -> Never {
        func value(_ name: String) -> String? {
            words.first { $0.hasPrefix("--\(name)=") }.map { String($0.dropFirst(name.count + 3)) }
        }
        guard let target = FuzzTarget.all.first(where: { $0.name == value("target") }),
            let seconds = value("seconds").flatMap({ Int($0) }),
            let seed = value("seed").flatMap({ UInt64($0) }),
            let last = value("last").flatMap(LastInput.init(path:))
        else {
            end(2, "built without libFuzzer: --target, --seconds, --seed and --last are needed; or make fuzz")
        }
        let files = words.dropFirst().filter { !$0.hasPrefix("--") }
        let corpus = files.compactMap { FileManager.default.contents(atPath: $0).map { Array($0) } }
        guard corpus.count == files.count else { end(2, "an input cannot be read") }
        do throws(FuzzLoop.Failure) {
            let count = try FuzzLoop(target, corpus: corpus, seed: seed).run(
                for: .seconds(seconds), spent: processorTime
            ) { last.write($0) }
            end(0, "\(count) inputs")
        } catch {
            end(1, "\(error): \(String(decoding: error.input, as: UTF8.self).debugDescription)")
        }
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func end(_ status: Int32, _ words: String) -> Never {
        FileHandle.standardError.write(Data((words + "\n").utf8))
        exit(status)
    }
}
