import ArgumentParser
import FarmConfiguration

extension CompletionKind {
    /// The names of the configured apps, or no names when the configuration cannot be read.
    static var apps: CompletionKind {
        .custom { words, _, _ in
            let option = "--config"
            let inline = words.last { $0.hasPrefix(option + "=") }.map {
                String($0.dropFirst(option.count + 1))
            }
            let behind = words.lastIndex(of: option).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
            let farm = try? Configuration.load(
                path: inline ?? behind, environment: ProcessEnvironment.variables)
            return farm?.apps.map(\.name) ?? []
        }
    }
}
