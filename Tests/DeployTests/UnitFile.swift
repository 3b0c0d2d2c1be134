/// The assignments in a systemd unit file.
struct UnitFile {
    private(set) var assignments: [(section: String, name: String, value: String)] = []

    init(_ text: String) {
        var section = ""
        for line in text.split(separator: "\n") where !line.hasPrefix("#") && !line.hasPrefix(";") {
            if line.hasPrefix("[") {
                section = String(line.dropFirst().dropLast())
            } else if let equals = line.firstIndex(of: "=") {
                let value = line[line.index(after: equals)...]
                assignments.append((section, String(line[..<equals]), String(value)))
            }
        }
    }

    func values(_ name: String) -> [String] { assignments.filter { $0.name == name }.map(\.value) }

    /// The assignments as one line each, for comparisons.
    var lines: [String] { assignments.map { "[\($0.section)] \($0.name)=\($0.value)" } }
}
