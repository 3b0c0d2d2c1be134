import FarmConfiguration

extension FarmConfiguration {
    /// The app that a command is for: the one that was named, or the only one there is.
    func chosenApp(_ name: String?) throws(CommandFailure) -> String {
        if let name { return name }
        guard let only = apps.first else {
            throw .usage("no app is configured: name one with --app")
        }
        guard apps.count == 1 else {
            throw .usage("name one of the apps with --app: " + apps.map(\.name).joined(separator: ", "))
        }
        return only.name
    }
}
