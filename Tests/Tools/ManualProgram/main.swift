import Foundation
import Manual

// Usage: pushfarm --experimental-dump-help | pushfarm-manual VERSION DATE SAMPLE FOLDER
let arguments = CommandLine.arguments
guard arguments.count == 5 else {
    FileHandle.standardError.write(Data("usage: pushfarm-manual VERSION DATE SAMPLE FOLDER <dump\n".utf8))
    exit(2)
}
let edition = CommandPage.Edition(version: arguments[1], date: arguments[2])
let sample = try String(contentsOfFile: arguments[3], encoding: .utf8)
let folder = URL(fileURLWithPath: arguments[4])
let dump = try JSONDecoder().decode(
    CommandHelp.Dump.self, from: FileHandle.standardInput.readDataToEndOfFile())
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
for command in dump.command.all {
    let page = CommandPage(command, edition)
    try Data(page.text.utf8).write(to: folder.appendingPathComponent(page.file))
}
try Data(ConfigurationPage(sample, edition).text.utf8).write(
    to: folder.appendingPathComponent("pushfarm.yaml.5"))
