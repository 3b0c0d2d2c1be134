import ArgumentParser
import FarmConfiguration
import Logging

@main
struct Pushfarm: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pushfarm")
    mutating func run() throws { print("hi") }
}
