/// As at Apple's: a file that imports CoreData has Foundation, and there the names that both declare are CoreData's.
@_exported import Foundation
